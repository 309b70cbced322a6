// SPDX-License-Identifier: Apache-2.0
/*
 * compact - the thread that merges rows as they came into larger ones: store/compact.h.
 *
 * It has a connection of its own and nothing to do with what is being read from Kafka. What fails
 * is tried again for ever; a stop is heeded within a statement.
 */
#pragma once

#include "base/err.h"
#include "store/compact.h"

#include <pthread.h>

struct compact_options {
	const char *postgres;
	uint64_t age_ns; /* of the oldest row of a bucket before its rows are merged; 0: never */
};

struct compact {
	/* private */
	struct store_compactor store; /* the thread's own */
	pthread_t thread;
	bool is_running;
};

bool compact_start(struct compact *compact, const struct compact_options *options,
		   struct err *err) MUST_CHECK;

/* After daemon_stopping() is true; waits for the thread. */
void compact_stop(struct compact *compact);
