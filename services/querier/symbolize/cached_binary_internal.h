// SPDX-License-Identifier: Apache-2.0
/*
 * cached_binary - the cached symbols of one binary, for one generation of its debug file.
 *
 * It only grows: pointers to its lines stay valid until it is freed. It has the same generation for
 * all its life. The cache holds another object for another generation, so that a response never
 * mixes symbols of two debug files. Any thread; symbol_cache decides when it is freed.
 */
#pragma once

#include "querier/symbolize/symbolize_merge.h"

#include <pthread.h>

struct cached_binary {
	str build_id; /* read freely */
	/* private to cached_binary.c, guarded by this lock */
	pthread_rwlock_t lock;
	struct arena arena; /* of everything here, this struct included */
	uint64_t generation, requested_ns, secret;
	bool has_generation;
	struct address_slot *slots; /* hash table by address; at most half full */
	size_t cap, len;            /* cap: a power of two */
	struct map *functions;      /* each once */
	struct buf key;             /* of the function that is looked up */
	/* private to symbol_cache.c, under its lock */
	size_t counted_bytes;
	unsigned int references;
	bool is_listed;
	struct cached_binary *chain, *newer, *older;
};

/* The symbolizer's response for some addresses of a binary, and the time of the request. */
struct symbolize_exchange {
	const struct symbolize_binary *request;
	const struct symbolized_binary *response; /* as many locations as addresses */
	uint64_t requested_ns;                    /* monotonic */
};

struct cached_binary *cached_binary_new(str build_id);
void cached_binary_free(struct cached_binary *binary);

/* Copy a response into it. False: the response is of another generation; nothing is copied. */
bool cached_binary_put(struct cached_binary *binary, const struct symbolize_exchange *exchange);

/* True if a response of that generation can be put. */
bool cached_binary_accepts(struct cached_binary *binary, uint64_t generation);

/* Time of the last request whose response was put; 0: never. */
uint64_t cached_binary_requested_ns(struct cached_binary *binary);

/* Bytes of the whole object. */
size_t cached_binary_memory_used(struct cached_binary *binary);

/*
 * Write the symbols that are known at now_ns into `resolved`, by index of the address. Returns the
 * number of addresses that are unknown or whose reason has expired; their indexes are in
 * ret_missing, which must have room for `count`. Lines never expire: a new debug file has another
 * generation.
 */
size_t cached_binary_find(struct cached_binary *binary, const uint64_t *addresses, size_t count,
			  uint64_t now_ns, struct address_lines *resolved, uint32_t *ret_missing);
