// SPDX-License-Identifier: Apache-2.0
/*
 * querier_limits - the bounds of requests to the querier and of its responses.
 *
 * The number of concurrent queries and the memory of each are settings. Rejected requests are
 * counted in decima_querier_errors_total by error type.
 */
#pragma once

#include "base/limit.h"

#define QUERIER_LIMITS(LIMIT)                                                                      \
	LIMIT(GROUP_BY_MAX, 8, COUNT, "labels that a response is grouped by", BAD_DATA)            \
	LIMIT(BUILDS_OF_SYMBOL_MAX, 32, COUNT, "builds that are listed for a node or row",         \
	      "the response counts the others in `builds_left_out`")                               \
	LIMIT(FLEET_HOSTS_MAX, 10000, COUNT, "hosts of one page of the fleet",                     \
	      "422 `execution` unless the request has a `limit`: then the next page has the "      \
	      "others")                                                                            \
	/* As in Prometheus. */                                                                    \
	LIMIT(STEPS_MAX, 11000, COUNT, "points of a series of `query_range`", BAD_DATA)            \
	LIMIT(DEFAULT_STEPS, 250, COUNT, "points of a series if the request has no step",          \
	      "the step is longer")                                                                \
	LIMIT(GAUGE_SLOT_MS, 60000, MS,                                                            \
	      "resolution of the time in which a gauge's process exists",                          \
	      "a gauge's step is not shorter unless the request has one")                          \
	LIMIT(MATCH_PARAMS_MAX, 16, COUNT, "`match[]` parameters", BAD_DATA)                       \
	LIMIT(POOL_MAX, 64, COUNT, "value of `--query-concurrency`", "an error at the start")      \
	LIMIT(POOL_WAIT_MS, 10000, MS, "a query's wait for a free connection, and for memory",     \
	      "503 with a sentence, `decima_querier_pool_rejections_total`")                       \
	LIMIT(POOL_WAITING_MAX, 64, COUNT, "queries that wait for a connection or for memory",     \
	      "503 with a sentence, `decima_querier_pool_rejections_total`")                       \
	LIMIT(POOL_POLL_MS, 200, MS,                                                               \
	      "interval at which a waiting query checks whether its client is gone", PACE)         \
	LIMIT(POOL_TRIM_BYTES, 16 << 20, BYTES,                                                    \
	      "a response whose memory is returned to the system at once", PACE)                   \
	LIMIT(READY_CACHE_MS, 1000, MS,                                                            \
	      "shortest interval between two checks of PostgreSQL by `/ready`",                    \
	      "the response repeats the last outcome")                                             \
	LIMIT(READY_WAIT_MS, 2000, MS, "wait of `/ready` for a connection and for each result",    \
	      "503 with a sentence")                                                               \
	LIMIT(SYMBOLS_FRESH_MS, 3000, MS,                                                          \
	      "time in which a binary's debug file, and why an address has no symbol, are reused", \
	      "the symbolizer is queried again")                                                   \
	LIMIT(SYMBOL_BATCH_ADDRESSES_MAX, 10000, COUNT,                                            \
	      "addresses of one request to the symbolizer", "further requests")                    \
	LIMIT(SYMBOL_BATCH_BINARIES_MAX, 1000, COUNT, "binaries of one request to the symbolizer", \
	      "further requests")                                                                  \
	LIMIT(SYMBOLIZER_PAUSE_MS, 1500, MS, "pause of requests to a symbolizer after a failure",  \
	      "cached symbols only, `decima_querier_symbolize_requests_total`, and a warning")     \
	LIMIT(SYMBOLZ_BODY_MAX, 16 << 20, BYTES,                                                   \
	      "a request of pprof for the symbols of addresses",                                   \
	      "413, `decima_http_requests_total`")                                                 \
	LIMIT(SHARE_BODY_MAX, 64 << 10, BYTES, "a request to share, as JSON",                      \
	      "413, `decima_http_requests_total`")                                                 \
	LIMIT(DEFAULT_WINDOW_MS, 3600 * 1000, MS, "the window of a request without `start`",       \
	      "older samples need a `start`")                                                      \
	/* The end of the year 9999. */                                                            \
	LIMIT(TIME_MAX_MS, UINT64_C(253402300800000), UNIX_MS, "a time in a request", BAD_DATA)

QUERIER_LIMITS(LIMIT_CONSTANT)
