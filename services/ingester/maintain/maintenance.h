// SPDX-License-Identifier: Apache-2.0
/*
 * maintenance - the thread that maintains the tables and checks balances about once a minute.
 *
 * The thread creates table partitions ahead of time, drops partitions past their retention and
 * terminates stuck writers. Then it reads the balance of each host and names those that stay open
 * ("balance_watch.h"). It has a connection of its own, because it may wait for long queries to
 * end; a flush must not wait for them. "store/maintenance/maintenance.h" describes the work. A
 * failed run is logged and repeated.
 */
#pragma once

#include "base/err.h"
#include "ingester/maintain/balance_watch.h"
#include "store/maintenance/maintenance.h"

#include <pthread.h>

struct maintenance_options {
	const char *postgres; /* libpq conninfo or URI; must outlive the thread */
	uint64_t retention_raw_ns, retention_rollup_ns; /* of samples; of sums */
	uint64_t balance_wait_ns;                       /* of balance_watch_init() */
};

struct maintenance {
	/* private */
	struct store_maintenance store; /* the thread's own, as the next one */
	struct balance_watch watch;
	const char *postgres;
	uint64_t pause_ms;
	pthread_t thread;
	bool is_running;
};

/* *maintenance must be {0} and must not move. ERR_IO: the thread cannot be created; there is
 * nothing to stop. */
bool maintenance_start(struct maintenance *maintenance, const struct maintenance_options *options,
		       struct err *err) MUST_CHECK;

/* Waits for the thread to end. Call it only when daemon_stopping() is true. Accepts {0}. */
void maintenance_stop(struct maintenance *maintenance);
