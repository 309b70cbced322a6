// SPDX-License-Identifier: Apache-2.0
#include "querier/pool/pool.h"

#include "base/clock.h"
#include "base/cond.h"
#include "server/metrics/metrics.h"

#include <assert.h>
#include <malloc.h>
#include <time.h>

#define POOL_REASONS(ROW)               \
	ROW(CONNECTIONS, "connections") \
	ROW(MEMORY, "memory")

enum pool_reason { POOL_REASONS(NAMED_CONSTANT) POOL_REASON_COUNT };
static const char *const reason_names[POOL_REASON_COUNT] = { POOL_REASONS(NAMED_TEXT) };

#define POOL_METRICS(ROW)                                                                         \
	ROW(busy, METRIC_GAUGE, "decima_querier_connections_busy",                                \
	    "Connections to PostgreSQL that run a query now.")                                    \
	ROW(memory, METRIC_GAUGE, "decima_querier_memory_counted_bytes",                          \
	    "Bytes that count for --memory-limit: running queries with --query-memory-limit, "    \
	    "and responses that are being sent with what they use.")                              \
	ROW(rejected, METRIC_COUNTER, "decima_querier_pool_rejections_total",                     \
	    "Queries rejected because every connection stayed busy (--query-concurrency), or no " \
	    "memory was left (--memory-limit).",                                                  \
	    METRIC_LABEL("reason", reason_names, POOL_REASON_COUNT))

METRICS(pool_metrics, POOL_METRICS);

void pool_init(struct pool *pool, const struct pool_options *options)
{
	assert(options->count > 0 && options->count <= POOL_MAX);
	assert(options->connections > 0 && options->connections <= READERS_MAX);
	assert(options->query_memory_max <= options->memory_max);
	*pool = (struct pool){ .options = *options };
	for (size_t i = 0; i < options->count; i++)
		for (size_t j = 0; j < options->connections; j++)
			pool->items[i].readers[j].options = options->store;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->released, NULL);
}

void pool_done(struct pool *pool)
{
	for (size_t i = 0; i < pool->options.count; i++)
		for (size_t j = 0; j < READERS_MAX; j++)
			store_reader_close(&pool->items[i].readers[j]);
	pthread_cond_destroy(&pool->released);
	pthread_mutex_destroy(&pool->lock);
}

/* Under the lock. Prefers an item that has a connection already. */
static struct pool_item *find_free(struct pool *pool)
{
	struct pool_item *free_item = NULL;

	for (size_t i = 0; i < pool->options.count; i++) {
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

/* Under the lock. Takes an item and memory, or neither. NULL, with the reason. */
static struct pool_item *take(struct pool *pool, uint64_t *bytes, enum pool_reason *ret_reason)
{
	const struct pool_options *options = &pool->options;
	struct pool_item *item = find_free(pool);

	if (!item) {
		*ret_reason = CONNECTIONS;
		return NULL;
	}
	if (!*bytes && pool->memory + options->query_memory_max > options->memory_max) {
		*ret_reason = MEMORY;
		return NULL;
	}
	if (!*bytes) {
		*bytes = options->query_memory_max;
		pool->memory += *bytes;
		metric_set(&memory, (int64_t)pool->memory);
	}
	item->is_busy = true;
	return item;
}

static bool reject(const struct pool *pool, enum pool_reason reason, struct err *err)
{
	metric_add_at(&rejected, reason, 1);
	if (reason == CONNECTIONS)
		return err_set(err, ERR_BUSY,
			       "%zu queries are running already (--query-concurrency): try again "
			       "later",
			       pool->options.count);
	return err_set(err, ERR_BUSY,
		       "queries that run and responses that are being read use all memory "
		       "(--memory-limit): try again later");
}

static bool wait_for_free(struct pool *pool, uint64_t *bytes, const struct store_bounds *bounds,
			  struct pool_item **ret_item, struct err *err)
{
	struct store_bounds wait = { clock_monotonic_ns() + POOL_WAIT_MS * NS_PER_MS,
				     bounds->cancel };
	enum pool_reason reason = POOL_REASON_COUNT;
	struct pool_item *item;

	if (bounds->deadline_ns < wait.deadline_ns)
		wait.deadline_ns = bounds->deadline_ns;
	pthread_mutex_lock(&pool->lock);
	item = take(pool, bytes, &reason);
	if (!item && pool->waiting < POOL_WAITING_MAX) {
		pool->waiting++;
		while (!(item = take(pool, bytes, &reason)) && store_bounds_check(&wait, err))
			wait_for_release(pool);
		pool->waiting--;
	}
	pthread_mutex_unlock(&pool->lock);
	*ret_item = item;
	if (item)
		return true;
	return store_bounds_check(bounds, err) && reject(pool, reason, err);
}

static void release(struct pool *pool, struct pool_item *item)
{
	pthread_mutex_lock(&pool->lock);
	item->is_busy = false;
	pthread_cond_broadcast(&pool->released);
	pthread_mutex_unlock(&pool->lock);
}

void pool_set_memory(struct pool *pool, uint64_t before, uint64_t now)
{
	pthread_mutex_lock(&pool->lock);
	pool->memory += now - before; /* wraps back */
	metric_set(&memory, (int64_t)pool->memory);
	pthread_cond_broadcast(&pool->released);
	pthread_mutex_unlock(&pool->lock);
	/* Otherwise malloc keeps what other threads do not use. */
	if (!now && before >= POOL_TRIM_BYTES)
		malloc_trim(0);
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

struct store_reader *pool_acquire(struct pool *pool, uint64_t *bytes,
				  const struct store_bounds *bounds, struct err *err)
{
	struct pool_item *item;

	if (!wait_for_free(pool, bytes, bounds, &item, err))
		return NULL;
	if (!pool_item_begin(item, &pool->options.store, bounds, err)) {
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
