// SPDX-License-Identifier: Apache-2.0
#include "querier/symbolize/symbol_cache.h"

#include "base/hash.h"
#include "server/metrics/metrics.h"

#include <assert.h>

#define SYMBOL_CACHE_METRICS(ROW)                                                             \
	ROW(cache_bytes, METRIC_GAUGE, "decima_querier_symbol_cache_bytes",                   \
	    "Memory of cached symbols.")                                                      \
	ROW(evictions, METRIC_COUNTER, "decima_querier_symbol_cache_evictions_total",         \
	    "Binaries whose symbols were evicted from the cache (--symbol-cache-max-bytes).") \
	ROW(generations, METRIC_COUNTER, "decima_querier_symbol_cache_generations_total",     \
	    "Binaries whose symbols were dropped because their debug file changed.")

METRICS(symbol_cache_metrics, SYMBOL_CACHE_METRICS);

void symbol_cache_init(struct symbol_cache *cache, uint64_t max_bytes)
{
	*cache = (struct symbol_cache){ .max_bytes = max_bytes };
	TAILQ_INIT(&cache->by_use);
	pthread_mutex_init(&cache->lock, NULL);
}

/* The static functions below are called under the cache's lock. */

static void count_bytes(struct symbol_cache *cache, struct cached_binary *binary, size_t now)
{
	cache->bytes += now - binary->counted_bytes; /* wraps if it shrank; the sum wraps back */
	binary->counted_bytes = now;
	metric_set(&cache_bytes, (int64_t)cache->bytes);
}

/* Where the listed binary of that build id is, or NULL. */
static struct cached_binary **find(struct symbol_cache *cache, str build_id)
{
	return index_find(&cache->binaries, hash_seeded(build_id, hash_seed()), each,
			  str_eq(each->build_id, build_id));
}

static struct cached_binary *find_listed(struct symbol_cache *cache, str build_id)
{
	struct cached_binary **found = find(cache, build_id);

	return found ? *found : NULL;
}

static void list(struct symbol_cache *cache, struct cached_binary *binary)
{
	*index_at(NULL, &cache->binaries, hash_seeded(binary->build_id, hash_seed()), each,
		  each == binary) = binary;
	binary->is_listed = true;
	TAILQ_INSERT_HEAD(&cache->by_use, binary, by_use);
}

static void free_unused(struct symbol_cache *cache, struct cached_binary *binary)
{
	if (binary->is_listed || binary->references)
		return;
	count_bytes(cache, binary, 0);
	cached_binary_free(binary);
}

/* Remove the binary from the cache; free it if it is not in use. */
static void unlist(struct symbol_cache *cache, struct cached_binary *binary)
{
	index_remove(&cache->binaries, find(cache, binary->build_id));
	binary->is_listed = false;
	TAILQ_REMOVE(&cache->by_use, binary, by_use);
	free_unused(cache, binary);
}

static void make_room(struct symbol_cache *cache)
{
	struct cached_binary *binary = TAILQ_LAST(&cache->by_use, binaries_by_use), *newer;

	for (; binary && cache->bytes > cache->max_bytes; binary = newer) {
		newer = TAILQ_PREV(binary, binaries_by_use, by_use);
		if (binary->references)
			continue; /* its memory would not be freed */
		unlist(cache, binary);
		metric_add(&evictions, 1);
	}
}

static struct cached_binary *acquire(struct symbol_cache *cache, str build_id)
{
	struct cached_binary *binary = find_listed(cache, build_id);

	if (binary) {
		TAILQ_REMOVE(&cache->by_use, binary, by_use);
		TAILQ_INSERT_HEAD(&cache->by_use, binary, by_use);
	} else {
		binary = cached_binary_new(build_id);
		list(cache, binary);
		count_bytes(cache, binary, cached_binary_memory_used(binary));
	}
	binary->references++;
	return binary;
}

static void release(struct symbol_cache *cache, struct cached_binary *binary)
{
	assert(binary->references);
	binary->references--;
	free_unused(cache, binary);
	make_room(cache);
}

/*
 * Acquire a binary that accepts the response, in place of one that has another generation. The
 * latest request wins: a response to an earlier one is not listed in the cache and serves only its
 * own query.
 */
static struct cached_binary *acquire_other(struct symbol_cache *cache, struct cached_binary *binary,
					   const struct symbolize_exchange *exchange)
{
	struct cached_binary *listed = find_listed(cache, binary->build_id), *other;

	if (listed && cached_binary_accepts(listed, exchange->response->generation)) {
		listed->references++;
		return listed;
	}
	other = cached_binary_new(binary->build_id);
	other->references++;
	count_bytes(cache, other, cached_binary_memory_used(other));
	if (!cached_binary_put(other, exchange))
		abort(); /* an empty binary accepts any response */
	if (listed && cached_binary_requested_ns(listed) > exchange->requested_ns)
		return other;
	if (listed) {
		unlist(cache, listed);
		metric_add(&generations, 1);
	}
	list(cache, other);
	return other;
}

/* The public functions lock the cache. */

struct cached_binary *symbol_cache_acquire(struct symbol_cache *cache, str build_id)
{
	pthread_mutex_lock(&cache->lock);

	struct cached_binary *binary = acquire(cache, build_id);

	pthread_mutex_unlock(&cache->lock);
	return binary;
}

void symbol_cache_release(struct symbol_cache *cache, struct cached_binary *binary)
{
	pthread_mutex_lock(&cache->lock);
	release(cache, binary);
	pthread_mutex_unlock(&cache->lock);
}

void symbol_cache_done(struct symbol_cache *cache)
{
	while (!TAILQ_EMPTY(&cache->by_use))
		unlist(cache, TAILQ_FIRST(&cache->by_use));
	index_done(&cache->binaries);
	assert(cache->bytes == 0);
	pthread_mutex_destroy(&cache->lock);
}

struct cached_binary *symbol_cache_put(struct symbol_cache *cache, struct cached_binary *binary,
				       const struct symbolize_exchange *exchange, size_t *grown)
{
	while (!cached_binary_put(binary, exchange)) {
		struct cached_binary *other;

		pthread_mutex_lock(&cache->lock);
		other = acquire_other(cache, binary, exchange);
		release(cache, binary);
		pthread_mutex_unlock(&cache->lock);
		binary = other;
	}
	pthread_mutex_lock(&cache->lock);

	size_t before = binary->counted_bytes, used = cached_binary_memory_used(binary);

	if (used > before)
		*grown += used - before;
	count_bytes(cache, binary, used);
	make_room(cache);
	pthread_mutex_unlock(&cache->lock);
	return binary;
}
