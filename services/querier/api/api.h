// SPDX-License-Identifier: Apache-2.0
/*
 * api - the HTTP API below /api/v1, and the routes of the web page.
 *
 * Responses have the format of Prometheus' HTTP API: {"status":"success","data":...}, or
 * {"status":"error","errorType":...,"error":"one sentence"} with the matching status code.
 * Handlers run in any thread.
 */
#pragma once

#include "querier/pool/pool.h"
#include "querier/pool/ready.h"
#include "querier/symbolize/symbolization.h"
#include "querier/symbolize/symbolizer_client.h"
#include "server/http/http.h"

struct api {
	/* private */
	struct pool pool;
	uint64_t memory_max; /* bytes of one response */
	uint64_t timeout_ns; /* of one request */
	size_t connections;  /* to PostgreSQL, of one request */
	struct ready ready;
	struct symbolizer_client symbolizer;
	struct symbolization symbolization;
	const char *postgres; /* where shares are stored */
	uint64_t share_max_bytes, share_total_max_bytes;
	pthread_mutex_t share_lock; /* one share is stored at a time: it opens a connection */
};

struct api_options {
	struct store_reader_options store;
	size_t concurrency;         /* queries that run at the same time */
	size_t connections;         /* to PostgreSQL, of each query */
	uint64_t memory_max;        /* bytes of one response */
	const char *symbolizer_url; /* empty: addresses are not symbolized */
	uint64_t symbolizer_timeout_ns, symbol_cache_max_bytes;
	uint64_t share_max_bytes, share_total_max_bytes; /* of one share, of all shares */
	uint64_t timeout_ns; /* from request to response; at most QUERY_TIMEOUT_MAX_MS */
};

void api_init(struct api *api, const struct api_options *options);
void api_done(struct api *api);

enum { API_ROUTES = 17 };
extern const struct http_route api_routes[API_ROUTES];

/* For struct daemon_service: `self` is the api. api_reject() writes the body of an error response
 * whose status the server has set already, such as 404 or 414. */
bool api_ready(void *self, struct err *why);
void api_reject(void *self, const struct http_request *req, const char *why,
		struct http_response *res);
