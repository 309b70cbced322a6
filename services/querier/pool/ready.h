// SPDX-License-Identifier: Apache-2.0
/*
 * ready - whether PostgreSQL answers queries, for /ready.
 *
 * The check uses a connection of its own, so that busy queries do not look like a failure. It runs
 * at most once in READY_CACHE_MS; requests in between get its last outcome. Any thread.
 */
#pragma once

#include "querier/pool/pool.h"

struct ready {
	/* private, under the lock */
	pthread_mutex_t lock;
	struct store_reader_options options;
	uint64_t checked_ns; /* monotonic; 0: never */
	bool is_ready;
	struct err err;
	struct pool_item connection;
};

/* Uses these options, with READY_WAIT_MS as the wait. */
void ready_init(struct ready *ready, const struct store_reader_options *options);
void ready_done(struct ready *ready);

/* False, and why: PostgreSQL does not answer. */
bool ready_get(struct ready *ready, struct err *why);
