/*
 * share_wish - what somebody wants a link to: the body of POST /api/v1/share.
 *
 *     {"query": "{comm=\"nginx\"}", "start": 1787479200, "end": "2026-08-22T10:00:00Z",
 *      "group_by": "comm", "expires": 604800, "freeze": true}
 */
#pragma once

#include "params.h"

struct share_wish {
	str query, group_by;
	struct window window;
	uint64_t expires_ms; /* Unix ms; 0: never */
	bool freeze;
};

/* Whether the query is a selector and the groups are labels, others say. Pure. */
bool share_wish_read(str body, uint64_t now_ms, struct arena *arena, struct share_wish *ret_wish,
		     struct err *err) MUST_CHECK;
