// SPDX-License-Identifier: Apache-2.0
/*
 * cached_binary - the cached symbols of one binary, for one generation (version) of its debug file.
 *
 * Symbols are only added: pointers to lines stay valid until the object is freed. The generation,
 * once set by the first response, never changes. The cache holds another object for another
 * generation, so that a response never mixes symbols of two debug files. No function fails. Any
 * thread; symbol_cache decides when an object is freed.
 */
#pragma once

#include "base/index.h"
#include "querier/symbolize/symbolize_merge.h"

#include <pthread.h>
#include <sys/queue.h>

struct cached_binary {
	str build_id; /* read freely */
	/* private to cached_binary.c, guarded by this lock */
	pthread_rwlock_t lock;
	struct arena arena; /* of everything here, this struct included */
	uint64_t generation, requested_ns, secret;
	bool has_generation;
	/*
	 * A hash table by address, at most half full. Not a base/index: one address in this table
	 * takes 100 ns, mostly cache misses, and with an index 120 ns (symbolize_bench).
	 */
	struct address_slot *slots;
	size_t cap, len;       /* cap: a power of two */
	struct map *functions; /* struct function_symbol by its fields */
	struct buf key;        /* of the function that is looked up */
	/* private to symbol_cache.c, under its lock */
	size_t counted_bytes;
	unsigned int references;
	bool is_listed;
	TAILQ_ENTRY(cached_binary) by_use;
};

/* The symbolizer's response for some addresses of a binary, and the time of the request. */
struct symbolize_exchange {
	const struct symbolize_binary *request;
	const struct symbolized_binary *response; /* as many locations as addresses */
	uint64_t requested_ns;                    /* monotonic */
};

/* A new, empty object; copies the build id. */
struct cached_binary *cached_binary_new(str build_id);

/* Frees the object. No thread may use it or its symbols any more. */
void cached_binary_free(struct cached_binary *binary);

/* Copies a response into the object. False: the response is of another generation; nothing is
 * copied. */
bool cached_binary_put(struct cached_binary *binary, const struct symbolize_exchange *exchange);

/* True if the object has this generation or none yet: cached_binary_put() accepts a response of
 * this generation. */
bool cached_binary_accepts(struct cached_binary *binary, uint64_t generation);

/* CLOCK_MONOTONIC of the latest request whose response was put; 0: none. */
uint64_t cached_binary_requested_ns(struct cached_binary *binary);

/* Bytes of the whole object. */
size_t cached_binary_memory_used(struct cached_binary *binary);

/*
 * Writes the symbols that are known at now_ns (CLOCK_MONOTONIC) into `resolved`, by index of the
 * address; the lines borrow from the object. Returns the number of addresses that are unknown or
 * whose reason has expired. Their indexes are in ret_missing, which must have room for `count`;
 * their entries in `resolved` are unchanged. Lines never expire: a new debug file has another
 * generation.
 */
size_t cached_binary_find(struct cached_binary *binary, const uint64_t *addresses, size_t count,
			  uint64_t now_ns, struct address_lines *resolved, uint32_t *ret_missing);
