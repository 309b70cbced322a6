// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_source - the interface to a source of symbols: the symbolizer, or a fake in tests.
 *
 * Any thread.
 */
#pragma once

#include "store/store_bounds.h"
#include "wire/symbolize.h"

struct symbol_source {
	/*
	 * Sends a request and waits for the response, within the bounds. The response is in the
	 * arena and may borrow from it. The caller must check that the numbers of binaries and
	 * locations match the request. Any failure is returned as an error; the caller uses cached
	 * symbols then. The pointer is NULL if there is no source.
	 */
	bool (*query)(void *self, const struct symbolize_request *request,
		      const struct store_bounds *bounds, struct arena *arena,
		      struct symbolize_response *ret_response, struct err *err);
	void *self;
};
