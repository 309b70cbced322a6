// SPDX-License-Identifier: Apache-2.0
#include "querier/pool/ready.h"

#include "base/clock.h"

void ready_init(struct ready *ready, const struct store_reader_options *options)
{
	*ready = (struct ready){ .options = *options };
	ready->options.wait_ms = READY_WAIT_MS;
	pthread_mutex_init(&ready->lock, NULL);
}

void ready_done(struct ready *ready)
{
	store_reader_close(ready->connection.readers);
	pthread_mutex_destroy(&ready->lock);
}

/* Under the lock. */
static void check(struct ready *ready)
{
	struct err err = { 0 };

	ready->is_ready = pool_item_begin(&ready->connection, &ready->options, NULL, &err);
	if (ready->is_ready)
		store_reader_end(ready->connection.readers);
	ready->err = err;
	ready->checked_ns = clock_monotonic_ns();
}

bool ready_get(struct ready *ready, struct err *why)
{
	bool is_ready;

	pthread_mutex_lock(&ready->lock);
	if (ready->checked_ns == 0 ||
	    clock_monotonic_ns() - ready->checked_ns > READY_CACHE_MS * NS_PER_MS)
		check(ready);
	is_ready = ready->is_ready;
	*why = ready->err;
	pthread_mutex_unlock(&ready->lock);
	return is_ready;
}
