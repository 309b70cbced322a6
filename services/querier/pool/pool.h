// SPDX-License-Identifier: Apache-2.0
/*
 * pool - a bounded set of connections to PostgreSQL; each query that runs acquires one item of it.
 *
 * An item has one connection for the query and more for parallel reading. Connections are opened on
 * first use and reopened after a loss. If all items are in use, a query waits up to POOL_WAIT_MS
 * and is then rejected. Any thread.
 */
#pragma once

#include "querier/querier_limits.h"
#include "store/limits.h"
#include "store/scan/reader.h"

#include <pthread.h>

struct pool_item {
	struct store_reader readers[READERS_MAX]; /* the first begins the snapshot; others join */
	bool is_open, is_busy;
};

struct pool {
	/* private: the lock guards the items' flags; a reader belongs to the thread that acquired
	 * it */
	pthread_mutex_t lock;
	pthread_cond_t released;
	struct store_reader_options options;
	size_t count, waiting;
	struct pool_item items[POOL_MAX];
};

/* count: queries that run at the same time; connections: readers of each. Opens no connection. */
void pool_init(struct pool *pool, const struct store_reader_options *options, size_t count,
	       size_t connections);
void pool_done(struct pool *pool);

/*
 * Acquire a reader with a new snapshot, for a query within these bounds; the caller must release
 * it. The further readers of the item follow it in memory, as many as pool_init() set. NULL with
 * ERR_IO: PostgreSQL is unavailable, or all items stayed busy.
 */
struct store_reader *pool_acquire(struct pool *pool, const struct store_bounds *bounds,
				  struct err *err) MUST_CHECK;
void pool_release(struct pool *pool, struct store_reader *reader);

/*
 * Begin a snapshot on an item outside of a pool. Opens the connection, or reopens a lost one. NULL
 * bounds: as store_reader_begin().
 */
bool pool_item_begin(struct pool_item *item, const struct store_reader_options *options,
		     const struct store_bounds *bounds, struct err *err) MUST_CHECK;

enum { POOL_METRICS = 2 };
extern struct metric *const pool_metrics[POOL_METRICS];
