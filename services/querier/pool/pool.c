// SPDX-License-Identifier: Apache-2.0
#include "querier/pool/pool.h"

#include "base/clock.h"
#include "base/cond.h"
#include "server/metrics/metrics.h"

#include <assert.h>
#include <time.h>

#define POOL_METRICS(ROW)                                                     \
	ROW(busy, METRIC_GAUGE, "decima_querier_connections_busy",            \
	    "Connections to PostgreSQL that run a query now.")                \
	ROW(rejected, METRIC_COUNTER, "decima_querier_pool_rejections_total", \
	    "Queries rejected because every connection stayed busy (--query-concurrency).")

METRICS(pool_metrics, POOL_METRICS);

void pool_init(struct pool *pool, const struct store_reader_options *options, size_t count,
	       size_t connections)
{
	assert(count > 0 && count <= POOL_MAX);
	assert(connections > 0 && connections <= READERS_MAX);
	*pool = (struct pool){ .options = *options, .count = count };
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < connections; j++)
			pool->items[i].readers[j].options = *options;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->released, NULL);
}

void pool_done(struct pool *pool)
{
	for (size_t i = 0; i < pool->count; i++)
		for (size_t j = 0; j < READERS_MAX; j++)
			store_reader_close(&pool->items[i].readers[j]);
	pthread_cond_destroy(&pool->released);
	pthread_mutex_destroy(&pool->lock);
}

/* Under the lock. Prefers an item that has a connection already. */
static struct pool_item *find_free(struct pool *pool)
{
	struct pool_item *free_item = NULL;

	for (size_t i = 0; i < pool->count; i++) {
		struct pool_item *item = &pool->items[i];

		if (!item->is_busy && (!free_item || (item->is_open && !free_item->is_open)))
			free_item = item;
	}
	return free_item;
}

/* Under the lock. The caller checks between two calls whether its client is gone. */
static void wait_for_release(struct pool *pool)
{
	cond_wait(&pool->released, &pool->lock, clock_monotonic_ns() + POOL_POLL_MS * NS_PER_MS);
}

static bool wait_for_free(struct pool *pool, const struct store_bounds *bounds,
			  struct pool_item **ret_item, struct err *err)
{
	struct store_bounds wait = { clock_monotonic_ns() + POOL_WAIT_MS * NS_PER_MS,
				     bounds->cancel };
	struct pool_item *item;

	if (bounds->deadline_ns < wait.deadline_ns)
		wait.deadline_ns = bounds->deadline_ns;
	pthread_mutex_lock(&pool->lock);
	item = find_free(pool);
	if (!item && pool->waiting < POOL_WAITING_MAX) {
		pool->waiting++;
		while (!(item = find_free(pool)) && store_bounds_check(&wait, err))
			wait_for_release(pool);
		pool->waiting--;
	}
	if (item)
		item->is_busy = true;
	pthread_mutex_unlock(&pool->lock);
	*ret_item = item;
	if (item)
		return true;
	if (!store_bounds_check(bounds, err))
		return false;
	metric_add(&rejected, 1);
	return err_set(err, ERR_BUSY,
		       "%zu queries are running already (--query-concurrency): try again later",
		       pool->count);
}

static void release(struct pool *pool, struct pool_item *item)
{
	pthread_mutex_lock(&pool->lock);
	item->is_busy = false;
	pthread_cond_signal(&pool->released);
	pthread_mutex_unlock(&pool->lock);
}

/*
 * An idle connection may have been lost, which only its first use shows. Retry once with a new
 * connection before failing.
 */
static bool begin(struct pool_item *item, const struct store_reader_options *options,
		  const struct store_bounds *bounds, struct err *err)
{
	bool was_open = item->is_open;

	item->is_open = was_open || store_reader_open(item->readers, options, err);
	return item->is_open && (store_reader_begin(item->readers, bounds, err) ||
				 (was_open && !(bounds && !store_bounds_check(bounds, err)) &&
				  store_reader_begin(item->readers, bounds, err)));
}

bool pool_item_begin(struct pool_item *item, const struct store_reader_options *options,
		     const struct store_bounds *bounds, struct err *err)
{
	if (begin(item, options, bounds, err))
		return true;
	/* A connection attempt ends by its own timeout; the query may have ended meanwhile. */
	if (bounds && !store_bounds_check(bounds, err))
		return false;
	if (err->code == ERR_NOT_FOUND)
		err->code = ERR_IO; /* without its tables the database is unavailable */
	return false;
}

struct store_reader *pool_acquire(struct pool *pool, const struct store_bounds *bounds,
				  struct err *err)
{
	struct pool_item *item;

	if (!wait_for_free(pool, bounds, &item, err))
		return NULL;
	if (!pool_item_begin(item, &pool->options, bounds, err)) {
		release(pool, item);
		return NULL;
	}
	metric_add(&busy, 1);
	return item->readers;
}

void pool_release(struct pool *pool, struct store_reader *reader)
{
	struct pool_item *item = (struct pool_item *)reader; /* its first member */

	store_reader_end(reader);
	metric_add(&busy, (uint64_t)-1);
	release(pool, item);
}
