// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_source - who knows names: the symbolizer, or a test in its place.
 */
#pragma once

#include "profile/symbolize.h"
#include "store/store_bounds.h"

struct symbol_source {
	/*
	 * Ask, within the bounds. The answer lives in the arena; how much there is of it is not
	 * checked against the question yet. NULL: there is nobody to ask.
	 */
	bool (*query)(void *self, const struct symbolize_request *request,
		      const struct store_bounds *bounds, struct arena *arena,
		      struct symbolize_response *ret_response, struct err *err);
	void *self;
};
