// SPDX-License-Identifier: Apache-2.0
/*
 * ready - whether PostgreSQL can be asked, for /ready.
 *
 * Over a connection of its own, so that busy queries do not look like a fault; at most once in
 * READY_CACHE_MS, whoever asks. Any thread.
 */
#pragma once

#include "pool.h"

struct ready {
	/* private, under the lock */
	pthread_mutex_t lock;
	struct store_reader_options options;
	uint64_t checked_ns; /* 0: never */
	bool is_ready;
	struct err err;
	struct pool_item connection;
};

/* The options but for how long to wait: READY_WAIT_MS. */
void ready_init(struct ready *ready, const struct store_reader_options *options);
void ready_done(struct ready *ready);

/* False with a sentence. */
bool ready_get(struct ready *ready, struct err *why);
