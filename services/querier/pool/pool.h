// SPDX-License-Identifier: Apache-2.0
/*
 * pool - a bounded set of connections to PostgreSQL; each running query acquires one item of the
 * set.
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

/*
 * count: queries that run at the same time, 1 to POOL_MAX; connections: readers of each item, 1 to
 * READERS_MAX. Opens no connection and cannot fail. Copies `options`, whose texts must outlive the
 * pool. The struct must not move until pool_done().
 */
void pool_init(struct pool *pool, const struct store_reader_options *options, size_t count,
	       size_t connections);

/* Closes all connections. All readers must have been released. */
void pool_done(struct pool *pool);

/*
 * Acquires a reader with a new snapshot, for a query within these bounds. The caller must call
 * pool_release(). The further readers of the item follow the returned reader in memory, as many as
 * pool_init() set. NULL with ERR_BUSY: all items stayed busy; the client may try again later. Other
 * codes: those of pool_item_begin().
 */
struct store_reader *pool_acquire(struct pool *pool, const struct store_bounds *bounds,
				  struct err *err) MUST_CHECK;

/* Ends the snapshot and returns the reader to the pool. The connection stays open. */
void pool_release(struct pool *pool, struct store_reader *reader);

/*
 * Begins a snapshot on an item, which need not be in a pool; a zeroed item is valid. Opens the
 * connection, or reopens a lost one; the caller closes with store_reader_close(). `bounds` NULL: no
 * deadline and no cancellation. ERR_IO: PostgreSQL is unavailable, or has no tables yet.
 * ERR_TIMEOUT, ERR_CANCELLED: the bounds ended. The item can be used again. Not thread-safe for one
 * item.
 */
bool pool_item_begin(struct pool_item *item, const struct store_reader_options *options,
		     const struct store_bounds *bounds, struct err *err) MUST_CHECK;

extern struct metric *const pool_metrics[];
