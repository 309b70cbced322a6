// SPDX-License-Identifier: Apache-2.0
/*
 * fleet_answer - the answer to /api/v1/fleet, written host by host.
 *
 * A fleet larger than one answer may be is asked for in pages: `limit` hosts that come after the
 * host `after`.
 */
#pragma once

#include "chassis/http.h"
#include "json_answer.h"
#include "store/fleet.h"

struct fleet_page {
	str after;
	size_t limit;
	bool is_asked; /* false: no limit was given, so what does not fit is an error */
};

/* ERR_INVALID: a limit that is none, a host id that is no text. */
bool fleet_page_read(const struct http_request *req, struct fleet_page *ret_page,
		     struct err *err) MUST_CHECK;

struct fleet_answer {
	/* private */
	struct fleet_page page;
	uint64_t memory_max;
	struct json_answer body;
	size_t hosts;
};

void fleet_answer_begin(struct fleet_answer *answer, const struct fleet_page *page,
			uint64_t memory_max, struct arena *arena);

/*
 * A fleet_sink's take(). ret_more false: the page is full. ERR_LIMIT: more hosts, or more bytes,
 * than one answer may have.
 */
bool fleet_answer_take(void *answer, const struct fleet_host *host, bool *ret_more,
		       struct err *err) MUST_CHECK;
void fleet_answer_end(struct fleet_answer *answer, const struct answer_stats *stats,
		      struct http_response *res);
