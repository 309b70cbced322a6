// SPDX-License-Identifier: Apache-2.0
/*
 * pool - a bounded number of connections to PostgreSQL, some for each query that is under way.
 *
 * Connections are made when first needed and again after a loss. Who finds none free waits for a
 * while and is then told to come back. Any thread.
 */
#pragma once

#include "querier_limits.h"
#include "store/limits.h"
#include "store/reader.h"

#include <pthread.h>

struct pool_item {
	struct store_reader readers[READERS_MAX]; /* the first begins, others may help it */
	bool is_open, is_busy;
};

struct pool {
	/* private: the items' flags are under the lock, a reader is its taker's */
	pthread_mutex_t lock;
	pthread_cond_t released;
	struct store_reader_options options;
	size_t count, waiting;
	struct pool_item items[POOL_MAX];
};

/* count: questions at once; team: readers of each. No connection is made yet. */
void pool_init(struct pool *pool, const struct store_reader_options *options, size_t count,
	       size_t connections);
void pool_done(struct pool *pool);

/*
 * A reader with a snapshot of its own, for a question within these bounds; behind it in memory are
 * those that may help it, as many as pool_init() was told. ERR_IO: PostgreSQL is away, or all are
 * busy.
 */
struct store_reader *pool_acquire(struct pool *pool, const struct store_bounds *bounds,
				  struct err *err) MUST_CHECK;
void pool_release(struct pool *pool, struct store_reader *reader);

/* Begin a snapshot over a connection of one's own, made or made again where need be. */
bool pool_item_begin(struct pool_item *item, const struct store_reader_options *options,
		     const struct store_bounds *bounds, struct err *err) MUST_CHECK;

enum { POOL_METRICS = 2 };
extern struct metric *const pool_metrics[POOL_METRICS];
