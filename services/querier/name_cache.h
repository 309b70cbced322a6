// SPDX-License-Identifier: Apache-2.0
/*
 * name_cache - the names of all binaries that were asked for, up to so many bytes.
 *
 * Who reads names takes the binary first; what it finds stays until it gives it back, even where
 * others drop the binary meanwhile: then it cannot be found any more, and goes with its last taker.
 * Whole binaries are dropped, those first that were not asked for for the longest time. Any thread.
 */
#pragma once

#include "name_binary.h"

enum { NAME_BUCKETS = 1024 };

struct name_cache {
	/* private, under the lock */
	pthread_mutex_t lock;
	uint64_t max_bytes;
	size_t bytes; /* of all binaries, also those that cannot be found any more */
	struct name_binary *buckets[NAME_BUCKETS];
	struct name_binary *newest, *oldest;
};

void name_cache_init(struct name_cache *cache, uint64_t max_bytes);
void name_cache_done(struct name_cache *cache);

/* The binary of that build id; an empty one where it is not there. */
struct name_binary *name_cache_take(struct name_cache *cache, str build_id);
void name_cache_give(struct name_cache *cache, struct name_binary *binary);

/*
 * Copy an answer into the cache. The binary that has it now is taken in place of the one that was,
 * and returned: the same, or another if the generation is another. What the cache grew by is added
 * to *grown.
 */
struct name_binary *name_cache_put(struct name_cache *cache, struct name_binary *binary,
				   const struct name_answer *answer, size_t *grown) MUST_CHECK;

enum { NAME_CACHE_METRICS = 3 };
extern struct metric *const name_cache_metrics[NAME_CACHE_METRICS];
