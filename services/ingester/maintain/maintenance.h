// SPDX-License-Identifier: Apache-2.0
/*
 * maintenance - the thread that maintains the tables about once a minute
 * (store/maintenance/maintenance.h).
 *
 * It creates table partitions ahead of time, drops those past their retention and terminates stuck
 * writers. It has a connection of its own, because it may wait for long queries to end; a flush
 * must not wait for them.
 */
#pragma once

#include "base/err.h"
#include "store/maintenance/maintenance.h"

#include <pthread.h>

struct maintenance_options {
	const char *postgres;
	uint64_t retention_raw_ns, retention_rollup_ns;
};

struct maintenance {
	/* private */
	struct store_maintenance store; /* the thread's own */
	pthread_t thread;
	bool is_running;
};

/* ERR_IO: the thread cannot be created. */
bool maintenance_start(struct maintenance *maintenance, const struct maintenance_options *options,
		       struct err *err) MUST_CHECK;

/* Wait for the thread to end. Call it only when daemon_stopping() is true. */
void maintenance_stop(struct maintenance *maintenance);
