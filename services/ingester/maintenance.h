// SPDX-License-Identifier: Apache-2.0
/*
 * keep - the thread that makes partitions ahead, drops those past their time and ends writers that
 * stand still, about once a minute: store/keeper.h.
 *
 * What it waits for (queries that are still running, mostly) no flush waits for.
 */
#pragma once

#include "base/err.h"
#include "store/keeper.h"

#include <pthread.h>

struct maintenance_options {
	const char *postgres;
	uint64_t retention_raw_ns, retention_rollup_ns;
};

struct maintenance {
	/* private */
	struct store_keeper store; /* the thread's own */
	pthread_t thread;
	bool is_running;
};

bool maintenance_start(struct maintenance *maintenance, const struct maintenance_options *options,
		       struct err *err) MUST_CHECK;

/* After daemon_stopping() is true; waits for the thread. */
void maintenance_stop(struct maintenance *maintenance);
