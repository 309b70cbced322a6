// SPDX-License-Identifier: Apache-2.0
/*
 * api - /api/v1: what can be asked, and how answers and refusals look.
 *
 * In the manner of Prometheus' HTTP API: {"status":"success","data":...}, or {"status":"error",
 * "errorType":...,"error":"one sentence"} with the fitting status. Any thread.
 */
#pragma once

#include "chassis/http.h"
#include "pool.h"
#include "ready.h"
#include "symbolization.h"
#include "symbolizer_client.h"

struct api {
	/* private */
	struct pool pool;
	uint64_t memory_max; /* of one answer */
	uint64_t timeout_ns; /* of one request */
	size_t connections;
	struct ready ready;
	struct symbolizer_client symbolizer;
	struct symbolization symbolization;
	const char *postgres; /* where shares are stored */
	uint64_t share_max_bytes, share_total_max_bytes;
	pthread_mutex_t sharing; /* one of them at a time has a connection for it */
};

struct api_options {
	struct store_reader_options store;
	size_t concurrency;         /* queries at once */
	size_t connections;         /* of each */
	uint64_t memory_max;        /* bytes of one answer */
	const char *symbolizer_url; /* empty: addresses have no names */
	uint64_t symbolizer_timeout_ns, symbol_cache_max_bytes;
	uint64_t share_max_bytes, share_total_max_bytes; /* of one share, of all */
	uint64_t timeout_ns; /* from the request to its answer; at most QUERY_TIMEOUT_MAX_MS */
};

void api_init(struct api *api, const struct api_options *options);
void api_done(struct api *api);

enum { API_ROUTES = 17 };
extern const struct http_route api_routes[API_ROUTES];

/* For daemon_service: `self` is the api. */
bool api_ready(void *self, struct err *why);
void api_reject(void *self, const struct http_request *req, const char *why,
		struct http_response *res);
