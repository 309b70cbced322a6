// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_cache - the symbols of all binaries that were requested, up to max_bytes.
 *
 * A reader acquires a binary and releases it after use. Until then its symbols stay valid, even if
 * the cache evicts or replaces the binary: it can no longer be found then, and is freed with its
 * last reference. Whole binaries are evicted, the least recently acquired first; binaries in use
 * are not. Any thread.
 */
#pragma once

#include "querier/symbolize/cached_binary_internal.h"

enum { SYMBOL_CACHE_BUCKETS = 1024 };

struct symbol_cache {
	/* private, under the lock */
	pthread_mutex_t lock;
	uint64_t max_bytes;
	size_t bytes; /* of all binaries, also of those that can no longer be found */
	struct cached_binary *buckets[SYMBOL_CACHE_BUCKETS];
	struct cached_binary *newest, *oldest;
};

void symbol_cache_init(struct symbol_cache *cache, uint64_t max_bytes);
void symbol_cache_done(struct symbol_cache *cache);

/* Acquire the binary with that build id; a new, empty one if the cache has none. */
struct cached_binary *symbol_cache_acquire(struct symbol_cache *cache, str build_id);
void symbol_cache_release(struct symbol_cache *cache, struct cached_binary *binary);

/*
 * Copy a response into the cache. Returns the binary that has it now: `binary`, or another one if
 * the generation differs. The reference moves to the returned binary. The bytes by which the cache
 * grew are added to *grown.
 */
struct cached_binary *symbol_cache_put(struct symbol_cache *cache, struct cached_binary *binary,
				       const struct symbolize_exchange *exchange,
				       size_t *grown) MUST_CHECK;

enum { SYMBOL_CACHE_METRICS = 3 };
extern struct metric *const symbol_cache_metrics[SYMBOL_CACHE_METRICS];
