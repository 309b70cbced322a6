// SPDX-License-Identifier: Apache-2.0
/*
 * compact - the thread that compacts raw rows into larger ones ("store/compact/compact.h").
 *
 * The thread has a PostgreSQL connection of its own and does not touch the consumer's state. A
 * failed compaction is retried without limit. Cancellation takes effect within one SQL statement.
 */
#pragma once

#include "base/err.h"
#include "store/compact/compact.h"

#include <pthread.h>

struct compact_options {
	const char *postgres; /* libpq conninfo or URI; must outlive the thread */
	uint64_t age_ns;      /* compact a bucket whose oldest raw row has this age; 0: never */
};

struct compact {
	/* private */
	struct store_compactor store; /* the thread's own */
	pthread_t thread;
	bool is_running;
};

/*
 * *compact must be {0} and must not move. With an age of 0 no thread is started. ERR_IO: the thread
 * cannot be created; there is nothing to stop.
 */
bool compact_start(struct compact *compact, const struct compact_options *options,
		   struct err *err) MUST_CHECK;

/* Waits for the thread to end. Call it only when daemon_stopping() is true. Accepts {0}. */
void compact_stop(struct compact *compact);
