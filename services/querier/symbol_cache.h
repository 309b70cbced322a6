// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_cache - the names of all binaries that were asked for, up to so many bytes.
 *
 * Who reads names accepts the binary first; what it finds stays until it gives it back, even where
 * others drop the binary meanwhile: then it cannot be found any more, and goes with its last taker.
 * Whole binaries are dropped, those first that were not asked for for the longest time. Any thread.
 */
#pragma once

#include "cached_binary.h"

enum { SYMBOL_CACHE_BUCKETS = 1024 };

struct symbol_cache {
	/* private, under the lock */
	pthread_mutex_t lock;
	uint64_t max_bytes;
	size_t bytes; /* of all binaries, also those that cannot be found any more */
	struct cached_binary *buckets[SYMBOL_CACHE_BUCKETS];
	struct cached_binary *newest, *oldest;
};

void symbol_cache_init(struct symbol_cache *cache, uint64_t max_bytes);
void symbol_cache_done(struct symbol_cache *cache);

/* The binary of that build id; an empty one where it is not there. */
struct cached_binary *symbol_cache_acquire(struct symbol_cache *cache, str build_id);
void symbol_cache_release(struct symbol_cache *cache, struct cached_binary *binary);

/*
 * Copy an answer into the cache. The binary that has it now is accepted in place of the one that
 * was, and returned: the same, or another if the generation is another. What the cache grew by is
 * added to *grown.
 */
struct cached_binary *symbol_cache_put(struct symbol_cache *cache, struct cached_binary *binary,
				       const struct symbolize_exchange *exchange,
				       size_t *grown) MUST_CHECK;

enum { SYMBOL_CACHE_METRICS = 3 };
extern struct metric *const symbol_cache_metrics[SYMBOL_CACHE_METRICS];
