// SPDX-License-Identifier: Apache-2.0
/*
 * share_request - the body of POST /api/v1/share: the profile or comparison to share.
 *
 *     {"query": "{comm=\"nginx\"}", "start": 1787479200, "end": "2026-08-22T10:00:00Z",
 *      "group_by": "comm", "expires": 604800, "freeze": true}
 *
 * A comparison has "a" and "b" in place of query, start and end: two objects with these members.
 */
#pragma once

#include "querier/api/params_internal.h"

struct share_request_side {
	str query;
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
 * Parse the body. Pure; texts live in the arena or borrow from the body. The caller must parse
 * query and group_by, which are plain text here. ERR_INVALID: malformed.
 */
bool share_request_read(str body, uint64_t now_ms, struct arena *arena,
			struct share_request *ret_request, struct err *err) MUST_CHECK;
