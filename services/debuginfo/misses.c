// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/misses.h"

#include "base/clock.h"
#include "base/heap.h"
#include "debuginfo/debuginfo_limits.h"

void misses_init(struct misses *misses)
{
	pthread_mutex_init(&misses->lock, NULL);
	misses->slots = heap_array(struct miss_slot, MISSES_MAX);
	/* A client must not be able to choose which slot its key overwrites. */
	misses->seed = hash_seed();
}

void misses_done(struct misses *misses)
{
	if (!misses->slots)
		return;
	free(TAKE(misses->slots));
	pthread_mutex_destroy(&misses->lock);
}

static struct miss_slot *slot_of(struct misses *misses, hash128 hash)
{
	return &misses->slots[(hash.low ^ misses->seed * hash.high) % MISSES_MAX];
}

enum miss misses_get(struct misses *misses, str key)
{
	hash128 hash = hash_128(key);
	const struct miss_slot *slot = slot_of(misses, hash);
	enum miss miss = MISS_NONE;

	pthread_mutex_lock(&misses->lock);
	if (hash128_eq(slot->key, hash) && clock_monotonic_ns() < slot->until_ns)
		miss = slot->miss;
	pthread_mutex_unlock(&misses->lock);
	return miss;
}

void misses_put(struct misses *misses, str key, enum miss miss, uint64_t for_ns)
{
	hash128 hash = hash_128(key);

	pthread_mutex_lock(&misses->lock);
	*slot_of(misses, hash) = (struct miss_slot){
		.key = hash,
		.until_ns = clock_monotonic_ns() + for_ns,
		.miss = miss,
	};
	pthread_mutex_unlock(&misses->lock);
}
