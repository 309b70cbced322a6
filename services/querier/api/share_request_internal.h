// SPDX-License-Identifier: Apache-2.0
/*
 * share_request - the body of POST /api/v1/share: the profile or comparison to share.
 *
 *     {"query": "{comm=\"nginx\"}", "start": 1787479200, "end": "2026-08-22T10:00:00Z",
 *      "group_by": "comm", "expires": 604800, "freeze": true}
 *
 * A comparison has the members "a" and "b" in place of query, start and end: two objects with the
 * members query, start and end.
 */
#pragma once

#include "querier/api/params_internal.h"

struct share_request_side {
	str query; /* text of a selector, not parsed */
	struct window window;
};

struct share_request {
	struct share_request_side sides[2]; /* a and b, or only the first */
	size_t side_count;
	str group_by;
	uint64_t expires_ms; /* Unix ms; 0: never */
	bool freeze;
};

/*
 * Parses the body. Pure: any thread. Texts are in the arena or borrow from the body. now_ms: Unix
 * ms. The caller must parse `query` and `group_by`, which are unchecked texts. ERR_INVALID:
 * malformed; *ret_request is unchanged.
 */
bool share_request_read(str body, uint64_t now_ms, struct arena *arena,
			struct share_request *ret_request, struct err *err) MUST_CHECK;
