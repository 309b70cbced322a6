// SPDX-License-Identifier: Apache-2.0
/*
 * maintenance - the thread that maintains the tables about once a minute.
 *
 * The thread creates table partitions ahead of time, drops partitions past their retention and
 * terminates stuck writers. It has a connection of its own, because it may wait for long queries to
 * end; a flush must not wait for them. "store/maintenance/maintenance.h" describes the work. A
 * failed run is logged and repeated.
 */
#pragma once

#include "base/err.h"
#include "store/maintenance/maintenance.h"

#include <pthread.h>

struct maintenance_options {
	const char *postgres; /* libpq conninfo or URI; must outlive the thread */
	uint64_t retention_raw_ns, retention_rollup_ns; /* of samples; of sums */
};

struct maintenance {
	/* private */
	struct store_maintenance store; /* the thread's own */
	pthread_t thread;
	bool is_running;
};

/* *maintenance must be {0} and must not move. ERR_IO: the thread cannot be created; there is
 * nothing to stop. */
bool maintenance_start(struct maintenance *maintenance, const struct maintenance_options *options,
		       struct err *err) MUST_CHECK;

/* Waits for the thread to end. Call it only when daemon_stopping() is true. Accepts {0}. */
void maintenance_stop(struct maintenance *maintenance);
