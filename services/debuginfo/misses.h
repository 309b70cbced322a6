// SPDX-License-Identifier: Apache-2.0
/*
 * misses - a negative cache: which files the upstream servers do not have.
 *
 * It has a fixed number of slots (MISSES_MAX). A key has exactly one slot; a newer key with the
 * same slot overwrites it. So memory is bounded and nothing has to be cleaned up; a miss that is
 * overwritten early only costs one more query. Any thread.
 */
#pragma once

#include "base/hash.h"

#include <pthread.h>

enum miss {
	MISS_NONE,   /* not in the cache */
	MISS_ABSENT, /* the servers responded 404 */
	MISS_FAILED, /* a server did not respond */
};

struct miss_slot {
	hash128 key;
	uint64_t until_ns; /* monotonic */
	enum miss miss;
};

struct misses {
	/* private */
	pthread_mutex_t lock;
	struct miss_slot *slots;
	uint64_t seed;
};

/* Cannot fail. */
void misses_init(struct misses *misses);

/* Frees the slots. Accepts a zeroed struct. */
void misses_done(struct misses *misses);

/* The key is hashed and not kept. MISS_NONE: not cached, overwritten, or expired. */
enum miss misses_get(struct misses *misses, str key);

/* Caches a miss for `for_ns` nanoseconds. */
void misses_put(struct misses *misses, str key, enum miss miss, uint64_t for_ns);
