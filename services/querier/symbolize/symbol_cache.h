// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_cache - the symbols of all binaries that were requested, up to max_bytes.
 *
 * A reader acquires a binary and releases it after use. Until the release the symbols stay valid,
 * even if the cache evicts or replaces the binary: then no other reader can acquire this object,
 * and the last release frees it. Whole binaries are evicted, the least recently acquired first;
 * binaries in use are not, so the cache may exceed max_bytes. No function fails. Any thread.
 */
#pragma once

#include "querier/symbolize/cached_binary_internal.h"

struct symbol_cache {
	/* private, under the lock */
	pthread_mutex_t lock;
	uint64_t max_bytes;
	size_t bytes; /* of all binaries, also of those that can no longer be found */
	INDEX(struct cached_binary *) binaries;            /* by build id */
	TAILQ_HEAD(binaries_by_use, cached_binary) by_use; /* the latest first */
};

/* An empty cache. The struct must not move until symbol_cache_done(). */
void symbol_cache_init(struct symbol_cache *cache, uint64_t max_bytes);

/* Frees all binaries, which must have been released. */
void symbol_cache_done(struct symbol_cache *cache);

/* Acquires the binary with that build id; a new, empty binary if the cache has none. Copies the
 * build id. Never NULL. The caller must call symbol_cache_release(). */
struct cached_binary *symbol_cache_acquire(struct symbol_cache *cache, str build_id);

/* Ends the caller's use of the binary and of pointers to its symbols. */
void symbol_cache_release(struct symbol_cache *cache, struct cached_binary *binary);

/*
 * Copies a response into the cache. Returns the binary that has the symbols now: `binary`, or
 * another binary if the generation differs. The caller's reference moves to the returned binary;
 * symbols of the previous one are no longer valid. Adds to *grown the bytes by which the cache
 * grew.
 */
struct cached_binary *symbol_cache_put(struct symbol_cache *cache, struct cached_binary *binary,
				       const struct symbolize_exchange *exchange,
				       size_t *grown) MUST_CHECK;

extern struct metric *const symbol_cache_metrics[];
