// SPDX-License-Identifier: Apache-2.0
/*
 * fleet_response - the response to /api/v1/fleet, written host by host.
 *
 * A fleet larger than one response may be is asked for in pages: `limit` hosts that come after the
 * host `after`.
 */
#pragma once

#include "chassis/http.h"
#include "json_response.h"
#include "store/fleet.h"

struct fleet_page {
	str after;
	size_t limit;
	bool has_limit; /* false: no limit was given, so what does not fit is an error */
};

/* ERR_INVALID: a limit that is none, a host id that is no text. */
bool fleet_page_read(const struct http_request *req, struct fleet_page *ret_page,
		     struct err *err) MUST_CHECK;

struct fleet_response {
	/* private */
	struct fleet_page page;
	uint64_t memory_max;
	struct json_response body;
	size_t hosts;
};

void fleet_response_begin(struct fleet_response *response, const struct fleet_page *page,
			  uint64_t memory_max, struct arena *arena);

/*
 * A fleet_sink's take(). ret_more false: the page is full. ERR_LIMIT: more hosts, or more bytes,
 * than one response may have.
 */
bool fleet_response_add_host(void *response, const struct fleet_host *host, bool *ret_more,
			     struct err *err) MUST_CHECK;
void fleet_response_end(struct fleet_response *response, const struct query_stats *stats,
			struct http_response *res);
