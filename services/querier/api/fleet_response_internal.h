// SPDX-License-Identifier: Apache-2.0
/*
 * fleet_response - the response of /api/v1/fleet, written host by host.
 *
 * A fleet that is too large for one response is requested in pages: `limit` hosts that follow the
 * host `after`. One thread.
 */
#pragma once

#include "querier/report/json_response.h"
#include "server/http/http.h"
#include "store/fleet/fleet.h"

struct fleet_page {
	str after; /* a host id, borrowed from the request; empty: from the first host */
	size_t limit;
	bool has_limit; /* false: no limit was given, so more hosts than fit are an error */
};

/* Parses the parameters `limit` and `after`. ERR_INVALID: `limit` is not a number from 1 to
 * FLEET_HOSTS_MAX, or `after` is not text. */
bool fleet_page_read(const struct http_request *req, struct fleet_page *ret_page,
		     struct err *err) MUST_CHECK;

struct fleet_response {
	/* private */
	struct fleet_page page;
	uint64_t memory_max;
	struct json_response body;
	size_t hosts;
};

/* Initialises `response`, which must not move until fleet_response_end(). The body is in the arena;
 * nothing must be freed. memory_max: bytes of the arena. */
void fleet_response_begin(struct fleet_response *response, const struct fleet_page *page,
			  uint64_t memory_max, struct arena *arena);

/*
 * The callback of a fleet_sink; `response` is the struct fleet_response. Copies the host. *ret_more
 * is false when the page is full. ERR_LIMIT: more hosts than FLEET_HOSTS_MAX without a limit, or
 * more than memory_max bytes.
 */
bool fleet_response_add_host(void *response, const struct fleet_host *host, bool *ret_more,
			     struct err *err) MUST_CHECK;

/* Sets body and content type of `res`. Cannot fail. */
void fleet_response_end(struct fleet_response *response, const struct query_stats *stats,
			struct http_response *res);
