// SPDX-License-Identifier: Apache-2.0
/*
 * keep - the thread that makes partitions ahead, drops those past their time and ends writers that
 * stand still, about once a minute: store/maintenance.h.
 *
 * What it waits for (queries that are still running, mostly) no flush waits for.
 */
#pragma once

#include "base/err.h"
#include "store/maintenance.h"

#include <pthread.h>

struct keep_options {
	const char *postgres;
	uint64_t retention_raw_ns, retention_rollup_ns;
};

struct keep {
	/* private */
	struct store_keeper store; /* the thread's own */
	pthread_t thread;
	bool is_running;
};

bool keep_start(struct keep *keep, const struct keep_options *options, struct err *err) MUST_CHECK;

/* After daemon_stopping() is true; waits for the thread. */
void keep_stop(struct keep *keep);
