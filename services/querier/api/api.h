// SPDX-License-Identifier: Apache-2.0
/*
 * api - the HTTP API below /api/v1, and the routes of the web page.
 *
 * Responses have the format of Prometheus' HTTP API: {"status":"success","data":...}, or
 * {"status":"error","errorType":...,"error":"one sentence"} with the HTTP status of the errorType.
 * A *share* is a query, or its frozen result, that is stored in PostgreSQL under a link of its own.
 * Handlers run in any thread, several at the same time; one thread calls api_init() and api_done(),
 * while no handler runs.
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
	uint64_t memory_max; /* bytes that one request may use */
	uint64_t timeout_ns; /* of one request */
	size_t connections;  /* to PostgreSQL, of one request */
	struct ready ready;
	struct symbolizer_client symbolizer;
	struct symbolization symbolization;
	const char *postgres; /* connection string, for storing shares */
	uint64_t share_max_bytes, share_total_max_bytes;
	pthread_mutex_t share_lock; /* one request at a time stores a share */
};

/* The texts that the options point to must outlive the api. */
struct api_options {
	struct store_reader_options store;
	size_t concurrency;         /* queries that run at the same time */
	size_t connections;         /* to PostgreSQL, of each query; at most READERS_MAX */
	uint64_t memory_max;        /* bytes that one request may use, its response included */
	uint64_t memory_total_max;  /* bytes of all requests and responses */
	const char *symbolizer_url; /* empty: addresses are not symbolized */
	uint64_t symbolizer_timeout_ns, symbol_cache_max_bytes;
	uint64_t share_max_bytes, share_total_max_bytes; /* of one share, of all shares */
	uint64_t timeout_ns; /* from request to response; at most QUERY_TIMEOUT_MAX_MS, in ns */
};

/* Initialises without opening a connection; cannot fail. The struct must not move until api_done(),
 * which frees everything. `options` itself is copied. */
void api_init(struct api *api, const struct api_options *options);

/* Closes all connections and frees the memory. No handler may run any more. */
void api_done(struct api *api);

extern const struct http_route api_routes[];
extern const size_t api_route_count;

/* For struct daemon_service; `self` is the api. True if PostgreSQL answers queries, checked at most
 * once in READY_CACHE_MS. False: *why has the reason. */
bool api_ready(void *self, struct err *why);

/* For struct daemon_service; `self` is the api. */
void api_freed(void *self, uint64_t memory_counted);

/*
 * For struct daemon_service; `self` is the api. The server has rejected a request and has set the
 * status of `res`, such as 404 or 414: writes the body of the error response, with the text `why`.
 */
void api_reject(void *self, const struct http_request *req, const char *why,
		struct http_response *res);
