// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_source - the interface to a source of symbols: the symbolizer, or a fake in tests.
 */
#pragma once

#include "store/store_bounds.h"
#include "wire/symbolize.h"

struct symbol_source {
	/*
	 * Send a request, within the bounds. The response lives in the arena. The caller must check
	 * that its numbers of binaries and locations match the request. NULL: there is no source.
	 */
	bool (*query)(void *self, const struct symbolize_request *request,
		      const struct store_bounds *bounds, struct arena *arena,
		      struct symbolize_response *ret_response, struct err *err);
	void *self;
};
