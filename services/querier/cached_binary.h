// SPDX-License-Identifier: Apache-2.0
/*
 * cached_binary - what is known of one binary's addresses, in one generation of its debug file.
 *
 * It only grows: what was found stays where it is until the whole is freed. It is of one generation
 * as long as it lives; for another one there is another object, so that an answer never mixes the
 * names of two. Any thread; symbol_cache says how long it lives.
 */
#pragma once

#include "symbolize_merge.h"

#include <pthread.h>

struct cached_binary {
	str build_id; /* read freely */
	/* private to cached_binary.c: the lock is of the rest of these */
	pthread_rwlock_t lock;
	struct arena arena; /* all of it, this too */
	uint64_t generation, requested_ns, secret;
	bool has_generation;
	struct address_slot *slots; /* by address; half full at most */
	size_t cap, len;            /* cap: a power of two */
	struct map *functions;      /* each once */
	struct buf key;             /* of the one that is looked up */
	/* private to symbol_cache.c, under its lock */
	size_t counted_bytes;
	unsigned int references;
	bool is_listed;
	struct cached_binary *chain, *newer, *older;
};

/* What the symbolizer said of some addresses, and when it was asked. */
struct symbolize_exchange {
	const struct symbolize_binary *request;
	const struct symbolized_binary *response; /* as many locations as addresses */
	uint64_t requested_ns;
};

struct cached_binary *cached_binary_new(str build_id);
void cached_binary_free(struct cached_binary *binary);

/* Copy an answer in. False: it is of another generation. */
bool cached_binary_put(struct cached_binary *binary, const struct symbolize_exchange *exchange);

/* Whether answers of that generation can be put in. */
bool cached_binary_accepts(struct cached_binary *binary, uint64_t generation);

/* When its generation was last asked for; 0: never. */
uint64_t cached_binary_requested_ns(struct cached_binary *binary);

/* Bytes that it holds. */
size_t cached_binary_memory_used(struct cached_binary *binary);

/*
 * What is known of each address at now_ns; the indexes of the others go into ret_missing, which has
 * room for all. How many those are. Lines are never kept out of date here: see the generation.
 */
size_t cached_binary_find(struct cached_binary *binary, const uint64_t *addresses, size_t count,
			  uint64_t now_ns, struct address_lines *names, uint32_t *ret_missing);
