// SPDX-License-Identifier: Apache-2.0
/*
 * misses - what upstream servers did not have, remembered for a while.
 *
 * A fixed number of places; a key has one of them, and a newer key takes it over. So it is bounded
 * without anything to clean up, and what is forgotten early is asked for once more. Any thread.
 */
#pragma once

#include "base/hash.h"

#include <pthread.h>

enum miss { MISS_NONE, MISS_ABSENT, MISS_FAILED }; /* not remembered; 404; no answer */

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

void misses_init(struct misses *misses);
void misses_done(struct misses *misses);

enum miss misses_get(struct misses *misses, str key);
void misses_put(struct misses *misses, str key, enum miss miss, uint64_t for_ns);
