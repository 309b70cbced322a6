// SPDX-License-Identifier: Apache-2.0
/*
 * compact - the thread that compacts raw rows into larger ones (store/compact.h).
 *
 * The thread has a PostgreSQL connection of its own and does not touch the consumer's state. A
 * failed compaction is retried without limit. Cancellation takes effect within one SQL statement.
 */
#pragma once

#include "base/err.h"
#include "store/compact/compact.h"

#include <pthread.h>

struct compact_options {
	const char *postgres;
	uint64_t age_ns; /* compact a bucket when its oldest raw row has this age; 0: never */
};

struct compact {
	/* private */
	struct store_compactor store; /* the thread's own */
	pthread_t thread;
	bool is_running;
};

/* With an age of 0 no thread is started. ERR_IO: the thread cannot be created. */
bool compact_start(struct compact *compact, const struct compact_options *options,
		   struct err *err) MUST_CHECK;

/* Wait for the thread to end. Call it only when daemon_stopping() is true. */
void compact_stop(struct compact *compact);
