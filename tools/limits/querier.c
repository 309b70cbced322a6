// SPDX-License-Identifier: Apache-2.0
/* Bounds of services/querier/querier_limits.h. */
#include "limits/limit.h"
#include "querier/querier_limits.h"

static const struct limit rows[] = {
	LIMIT(GROUP_BY_MAX, COUNT, "labels that an answer is split by", BAD_DATA),
	LIMIT(FLEET_HOSTS_MAX, COUNT, "hosts of one page of the fleet",
	      "the answer says where the next page begins"),
	LIMIT(STEPS_MAX, COUNT, "points of a series of `query_range`", BAD_DATA),
	LIMIT(DEFAULT_STEPS, COUNT, "points where no step is given", "the step is longer"),
	LIMIT(GAUGE_SLOT_MS, MS, "in which a process of a gauge is there or not",
	      "a gauge's step is not shorter unless one is given"),
	LIMIT(MATCH_PARAMS_MAX, COUNT, "`match[]` parameters", BAD_DATA),
	LIMIT(POOL_MAX, COUNT, "what `--query-concurrency` may be", "an error at the start"),
	LIMIT(POOL_WAIT_MS, MS, "a query's wait for a free connection",
	      "503 with a sentence, `decima_querier_pool_refusals_total`"),
	LIMIT(POOL_WAITING_MAX, COUNT, "queries that wait for a free connection",
	      "503 with a sentence, `decima_querier_pool_refusals_total`"),
	LIMIT(POOL_POLL_MS, MS, "how often who waits looks whether the client is still there",
	      PACE),
	LIMIT(READY_CACHE_MS, MS, "how often `/ready` asks PostgreSQL", "the last answer holds"),
	LIMIT(READY_WAIT_MS, MS, "how long it waits for each answer", "503 with a sentence"),
	LIMIT(SYMBOLS_FRESH_MS, MS,
	      "how long a binary's debug file, and that an address has no name, are believed",
	      "the symbolizer is asked again"),
	LIMIT(SYMBOL_BATCH_ADDRESSES_MAX, COUNT, "addresses of one request to the symbolizer",
	      "further requests"),
	LIMIT(SYMBOL_BATCH_BINARIES_MAX, COUNT, "binaries of one", "further requests"),
	LIMIT(SYMBOLIZER_PAUSE_MS, MS, "how long a symbolizer that failed is left alone",
	      "no names but cached ones, `decima_querier_name_requests_total`, and a warning"),
	LIMIT(SYMBOLZ_BODY_MAX, BYTES, "addresses that pprof asks names for",
	      "413, `decima_http_requests_total`"),
	LIMIT(SHARE_BODY_MAX, BYTES, "what is to be shared, as JSON",
	      "413, `decima_http_requests_total`"),
	LIMIT(DEFAULT_WINDOW_MS, MS, "the window where no start is given",
	      "what is older is asked for with `start`"),
	LIMIT(TIME_MAX_MS, UNIX_MS, "a time that can be asked for", BAD_DATA),
};

const struct limit_table querier_limits = TABLE("services/querier/querier_limits.h", rows);
