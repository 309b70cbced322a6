// SPDX-License-Identifier: Apache-2.0
/*
 * share_request - what somebody wants a link to: the body of POST /api/v1/share.
 *
 *     {"query": "{comm=\"nginx\"}", "start": 1787479200, "end": "2026-08-22T10:00:00Z",
 *      "group_by": "comm", "expires": 604800, "freeze": true}
 *
 * Of a comparison "a" and "b" stand in place of the first three: each is an object of those.
 */
#pragma once

#include "params.h"

struct share_request_side {
	str query;
	struct window window;
};

struct share_request {
	struct share_request_side sides[2]; /* a and b, or the first alone */
	size_t side_count;
	str group_by;
	uint64_t expires_ms; /* Unix ms; 0: never */
	bool freeze;
};

/* Whether a query is a selector and the groups are labels, others say. Pure. */
bool share_request_read(str body, uint64_t now_ms, struct arena *arena,
			struct share_request *ret_wish, struct err *err) MUST_CHECK;
