// SPDX-License-Identifier: Apache-2.0
/* The bounds in services/querier/querier_limits.h. */
#include "limits/limit.h"
#include "querier/querier_limits.h"

static const struct limit rows[] = {
	LIMIT(GROUP_BY_MAX, COUNT, "labels that a response is grouped by", BAD_DATA),
	LIMIT(FLEET_HOSTS_MAX, COUNT, "hosts of one page of the fleet",
	      "422 `execution` unless the request has a `limit`: then the next page has the "
	      "others"),
	LIMIT(STEPS_MAX, COUNT, "points of a series of `query_range`", BAD_DATA),
	LIMIT(DEFAULT_STEPS, COUNT, "points of a series if the request has no step",
	      "the step is longer"),
	LIMIT(GAUGE_SLOT_MS, MS, "resolution of the time in which a gauge's process exists",
	      "a gauge's step is not shorter unless the request has one"),
	LIMIT(MATCH_PARAMS_MAX, COUNT, "`match[]` parameters", BAD_DATA),
	LIMIT(POOL_MAX, COUNT, "value of `--query-concurrency`", "an error at the start"),
	LIMIT(POOL_WAIT_MS, MS, "a query's wait for a free connection",
	      "503 with a sentence, `decima_querier_pool_rejections_total`"),
	LIMIT(POOL_WAITING_MAX, COUNT, "queries that wait for a free connection",
	      "503 with a sentence, `decima_querier_pool_rejections_total`"),
	LIMIT(POOL_POLL_MS, MS,
	      "interval at which a waiting query checks whether its client is gone", PACE),
	LIMIT(READY_CACHE_MS, MS, "shortest interval between two checks of PostgreSQL by `/ready`",
	      "the response repeats the last outcome"),
	LIMIT(READY_WAIT_MS, MS, "wait of `/ready` for a connection and for each result",
	      "503 with a sentence"),
	LIMIT(SYMBOLS_FRESH_MS, MS,
	      "time in which a binary's debug file, and why an address has no symbol, are reused",
	      "the symbolizer is queried again"),
	LIMIT(SYMBOL_BATCH_ADDRESSES_MAX, COUNT, "addresses of one request to the symbolizer",
	      "further requests"),
	LIMIT(SYMBOL_BATCH_BINARIES_MAX, COUNT, "binaries of one request to the symbolizer",
	      "further requests"),
	LIMIT(SYMBOLIZER_PAUSE_MS, MS, "pause of requests to a symbolizer after a failure",
	      "cached symbols only, `decima_querier_symbolize_requests_total`, and a warning"),
	LIMIT(SYMBOLZ_BODY_MAX, BYTES, "a request of pprof for the symbols of addresses",
	      "413, `decima_http_requests_total`"),
	LIMIT(SHARE_BODY_MAX, BYTES, "a request to share, as JSON",
	      "413, `decima_http_requests_total`"),
	LIMIT(DEFAULT_WINDOW_MS, MS, "the window of a request without `start`",
	      "older samples need a `start`"),
	LIMIT(TIME_MAX_MS, UNIX_MS, "a time in a request", BAD_DATA),
};

const struct limit_table querier_limits = TABLE("services/querier/querier_limits.h", rows);
