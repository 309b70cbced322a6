// SPDX-License-Identifier: Apache-2.0
/*
 * ready - checks whether PostgreSQL answers queries, for the path /ready.
 *
 * The check uses a connection of its own, so that busy queries do not look like a failure. The
 * check runs at most once in READY_CACHE_MS; requests in between get the last outcome. Any thread.
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

/* Copies `options`, with READY_WAIT_MS as the wait; their texts must outlive `ready`. Opens no
 * connection; cannot fail. */
void ready_init(struct ready *ready, const struct store_reader_options *options);

/* Closes the connection. No other thread may use `ready` any more. */
void ready_done(struct ready *ready);

/* True: PostgreSQL answers. False: *why has the reason. Waits for a running check. *why is
 * overwritten in both cases. */
bool ready_get(struct ready *ready, struct err *why);
