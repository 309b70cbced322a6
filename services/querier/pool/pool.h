// SPDX-License-Identifier: Apache-2.0
/*
 * pool - a bounded set of connections to PostgreSQL, and the memory of all responses; each running
 * query acquires one item of the set, and memory.
 *
 * An item has one connection for the query and more for parallel reading. Connections are opened on
 * first use and reopened after a loss.
 *
 * A query that begins counts with the most memory that one query may use. Once its response is made
 * the memory of the response counts, until it has been sent: so queries that run, and responses
 * that clients read slowly, never have more than memory_max together.
 *
 * If all items are in use, or no memory is left, a query waits up to POOL_WAIT_MS and is then
 * rejected. Any thread.
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

struct pool_options {
	struct store_reader_options store; /* its texts must outlive the pool */
	size_t count;                      /* queries that run at the same time, 1 to POOL_MAX */
	size_t connections;                /* readers of each item, 1 to READERS_MAX */
	uint64_t memory_max; /* bytes of all queries and responses, at least query_memory_max */
	uint64_t query_memory_max; /* bytes that one query may use */
};

struct pool {
	/* private: the lock guards the items' flags and the memory; a reader belongs to the thread
	 * that acquired it */
	pthread_mutex_t lock;
	pthread_cond_t released;
	struct pool_options options;
	size_t waiting;
	uint64_t memory; /* bytes that are counted now */
	struct pool_item items[POOL_MAX];
};

/* Opens no connection and cannot fail. Copies `options`. The struct must not move until
 * pool_done(). */
void pool_init(struct pool *pool, const struct pool_options *options);

/* Closes all connections. All readers must have been released. */
void pool_done(struct pool *pool);

/*
 * Acquires a reader with a new snapshot, for a query within these bounds. The caller must call
 * pool_release(). The further readers of the item follow the returned reader in memory, as many as
 * the options say. *bytes is what the query counts with: if it is 0, it becomes query_memory_max,
 * also if the function fails later; the caller must call pool_set_memory(). NULL with ERR_BUSY: all
 * items stayed busy, or no memory was left; the client may try again later. Other codes: those of
 * pool_item_begin().
 */
struct store_reader *pool_acquire(struct pool *pool, uint64_t *bytes,
				  const struct store_bounds *bounds, struct err *err) MUST_CHECK;

/* Counts `now` bytes in place of `before`, for the response that was made; 0 when it has been sent
 * and freed. Then a large response's memory is returned to the system. */
void pool_set_memory(struct pool *pool, uint64_t before, uint64_t now);

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
