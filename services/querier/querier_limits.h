// SPDX-License-Identifier: Apache-2.0
/*
 * querier_limits - the bounds of requests to the querier and of its responses.
 *
 * The number of concurrent queries and the memory of each are settings. Rejected requests are
 * counted in decima_querier_errors_total by error type.
 */
#pragma once

enum {
	GROUP_BY_MAX = 8,        /* labels that one response is grouped by */
	FLEET_HOSTS_MAX = 10000, /* hosts of one response; more are requested in pages */
	STEPS_MAX = 11000,       /* points of one series of query_range, as in Prometheus */
	DEFAULT_STEPS = 250,     /* steps of a window if the request has no step */
	GAUGE_SLOT_MS = 60000,   /* resolution of the time in which a gauge's source exists */
	MATCH_PARAMS_MAX = 16,   /* match[] parameters of one request */
	POOL_MAX = 64,           /* upper bound of --query-concurrency */
	POOL_WAIT_MS = 10000,    /* wait of a query for a free connection; then it is rejected */
	POOL_WAITING_MAX = 64,   /* queries that wait; more are rejected at once */
	POOL_POLL_MS = 200,      /* interval at which a waiting query checks for its client */
	READY_CACHE_MS = 1000,   /* shortest interval of /ready's checks of PostgreSQL */
	READY_WAIT_MS = 2000,    /* timeout of such a check's connection and of each result */
	SYMBOLS_FRESH_MS = 3000, /* cached generations and reasons are used without a request */
	SYMBOL_BATCH_ADDRESSES_MAX = 10000, /* addresses of one request to the symbolizer */
	SYMBOL_BATCH_BINARIES_MAX = 1000,   /* binaries of one request to the symbolizer */
	SYMBOLIZER_PAUSE_MS = 1500,         /* no requests to a symbolizer after a failure */
	SYMBOLZ_BODY_MAX = 16 << 20,        /* bytes of addresses in a request of pprof */
	SHARE_BODY_MAX = 64 << 10,          /* bytes of a request to share, as JSON */
	DEFAULT_WINDOW_MS = 3600 * 1000,    /* length of the window if the request has no start */
};

/* Latest time of a request, Unix milliseconds: the end of the year 9999. */
#define TIME_MAX_MS UINT64_C(253402300800000)
