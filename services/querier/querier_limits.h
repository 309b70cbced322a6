// SPDX-License-Identifier: Apache-2.0
/*
 * querier_limits - the bounds of a question and of its answer.
 *
 * How many queries run at once and how much memory each may take are settings. Refusals are counted
 * in decima_querier_errors_total by their type.
 */
#pragma once

enum {
	GROUP_BY_MAX = 8,        /* labels that one answer is split by */
	FLEET_HOSTS_MAX = 10000, /* of one answer; more are asked for in pages */
	STEPS_MAX = 11000,       /* points of one series of query_range, as Prometheus has it */
	DEFAULT_STEPS = 250,     /* that a window is cut into where no step is given */
	GAUGE_SLOT_MS = 60000,   /* how finely a gauge's source is there or not */
	MATCH_PARAMS_MAX = 16,   /* match[] parameters of one request */
	POOL_MAX = 64,        /* connections to PostgreSQL that --query-concurrency may ask for */
	POOL_WAIT_MS = 10000, /* a query waits for one that is free; then it is told to come back */
	POOL_WAITING_MAX = 64, /* so many wait at most; others are told at once */
	POOL_POLL_MS = 200,    /* how often who waits looks whether its client is still there */
	READY_CACHE_MS = 1000, /* /ready asks PostgreSQL at most so often */
	READY_WAIT_MS = 2000,  /* and waits so long for each answer, and for a connection */
	SYMBOLS_FRESH_MS =
		3000, /* a generation is good so long without asking, and so is a reason */
	SYMBOL_BATCH_ADDRESSES_MAX = 10000, /* of one request to the symbolizer; more are several */
	SYMBOL_BATCH_BINARIES_MAX = 1000,
	SYMBOLIZER_PAUSE_MS = 1500,      /* a symbolizer that failed is left alone for so long */
	SYMBOLZ_BODY_MAX = 16 << 20,     /* bytes of addresses that pprof asks names for */
	SHARE_BODY_MAX = 64 << 10,       /* bytes of what is to be shared, as JSON */
	DEFAULT_WINDOW_MS = 3600 * 1000, /* without start: the last hour */
};

/* Times an answer can speak of: until the year 9999. */
#define TIME_MAX_MS UINT64_C(253402300800000)
