// SPDX-License-Identifier: Apache-2.0
/*
 * name_binary - what is known of one binary's addresses, in one generation of its debug file.
 *
 * It only grows: what was found stays where it is until the whole is freed. It is of one generation
 * as long as it lives; for another one there is another object, so that an answer never mixes the
 * names of two. Any thread; name_cache says how long it lives.
 */
#pragma once

#include "name.h"

#include <pthread.h>

struct name_binary {
	str build_id; /* read freely */
	/* private to name_binary.c: the lock is of the rest of these */
	pthread_rwlock_t lock;
	struct arena arena; /* all of it, this too */
	uint64_t generation, asked_ns, secret;
	bool has_generation;
	struct name_slot *slots; /* by address; half full at most */
	size_t cap, len;         /* cap: a power of two */
	struct map *functions;   /* each once */
	struct buf key;          /* of the one that is looked up */
	/* private to name_cache.c, under its lock */
	size_t counted;
	unsigned int takers;
	bool is_listed;
	struct name_binary *chain, *newer, *older;
};

/* What the symbolizer said of some addresses, and when it was asked. */
struct name_answer {
	const struct symbolize_binary *question;
	const struct symbolized_binary *answer; /* as many locations as addresses */
	uint64_t asked_ns;
};

struct name_binary *name_binary_new(str build_id);
void name_binary_free(struct name_binary *binary);

/* Copy an answer in. False: it is of another generation. */
bool name_binary_put(struct name_binary *binary, const struct name_answer *answer);

/* Whether answers of that generation can be put in. */
bool name_binary_takes(struct name_binary *binary, uint64_t generation);

/* When its generation was last asked for; 0: never. */
uint64_t name_binary_asked_ns(struct name_binary *binary);

/* Bytes that it holds. */
size_t name_binary_held(struct name_binary *binary);

/*
 * What is known of each address at now_ns; the indexes of the others go into ret_missing, which has
 * room for all. How many those are. Lines are never kept out of date here: see the generation.
 */
size_t name_binary_find(struct name_binary *binary, const uint64_t *addresses, size_t count,
			uint64_t now_ns, struct name *names, uint32_t *ret_missing);
