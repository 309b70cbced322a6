// SPDX-License-Identifier: Apache-2.0
#include "name_cache.h"

#include "base/hash.h"
#include "chassis/metrics.h"

#include <assert.h>

static struct metric cache_bytes = { .name = "decima_querier_name_cache_bytes",
				     .kind = METRIC_GAUGE,
				     .help = "Memory of the names that are kept." };
static struct metric evictions = {
	.name = "decima_querier_name_cache_evictions_total",
	.kind = METRIC_COUNTER,
	.help = "Binaries whose names were dropped for want of room (--name-cache-max-bytes)."
};
static struct metric generations = {
	.name = "decima_querier_name_generations_total",
	.kind = METRIC_COUNTER,
	.help = "Binaries whose names were dropped because their debug file is another now."
};
struct metric *const name_cache_metrics[NAME_CACHE_METRICS] = { &cache_bytes, &evictions,
								&generations };

void name_cache_init(struct name_cache *cache, uint64_t max_bytes)
{
	*cache = (struct name_cache){ .max_bytes = max_bytes };
	pthread_mutex_init(&cache->lock, NULL);
}

static struct name_binary **bucket_of(struct name_cache *cache, str build_id)
{
	return &cache->buckets[hash_64(build_id) % NAME_BUCKETS];
}

/* The rest of this part is under the cache's lock. */

static void count_bytes(struct name_cache *cache, struct name_binary *binary, size_t now)
{
	cache->bytes += now - binary->counted; /* wraps where it shrank, as the sum does */
	binary->counted = now;
	metric_set(&cache_bytes, (int64_t)cache->bytes);
}

static void leave_use(struct name_cache *cache, struct name_binary *binary)
{
	*(binary->newer ? &binary->newer->older : &cache->newest) = binary->older;
	*(binary->older ? &binary->older->newer : &cache->oldest) = binary->newer;
	binary->newer = binary->older = NULL;
}

static void use_now(struct name_cache *cache, struct name_binary *binary)
{
	binary->older = cache->newest;
	*(cache->newest ? &cache->newest->newer : &cache->oldest) = binary;
	cache->newest = binary;
}

static struct name_binary *find_listed(struct name_cache *cache, str build_id)
{
	struct name_binary *binary = *bucket_of(cache, build_id);

	while (binary && !str_eq(binary->build_id, build_id))
		binary = binary->chain;
	return binary;
}

static void list(struct name_cache *cache, struct name_binary *binary)
{
	struct name_binary **bucket = bucket_of(cache, binary->build_id);

	binary->chain = *bucket;
	*bucket = binary;
	binary->is_listed = true;
	use_now(cache, binary);
}

static void free_unused(struct name_cache *cache, struct name_binary *binary)
{
	if (binary->is_listed || binary->takers)
		return;
	count_bytes(cache, binary, 0);
	name_binary_free(binary);
}

/* Nobody finds it any more. */
static void unlist(struct name_cache *cache, struct name_binary *binary)
{
	struct name_binary **at = bucket_of(cache, binary->build_id);

	while (*at != binary)
		at = &(*at)->chain;
	*at = binary->chain;
	binary->is_listed = false;
	leave_use(cache, binary);
	free_unused(cache, binary);
}

static void make_room(struct name_cache *cache)
{
	struct name_binary *binary = cache->oldest, *newer;

	for (; binary && cache->bytes > cache->max_bytes; binary = newer) {
		newer = binary->newer;
		if (binary->takers)
			continue; /* it would be there all the same */
		unlist(cache, binary);
		metric_add(&evictions, 1);
	}
}

static struct name_binary *take(struct name_cache *cache, str build_id)
{
	struct name_binary *binary = find_listed(cache, build_id);

	if (binary) {
		leave_use(cache, binary);
		use_now(cache, binary);
	} else {
		binary = name_binary_new(build_id);
		list(cache, binary);
		count_bytes(cache, binary, name_binary_held(binary));
	}
	binary->takers++;
	return binary;
}

static void give(struct name_cache *cache, struct name_binary *binary)
{
	assert(binary->takers);
	binary->takers--;
	free_unused(cache, binary);
	make_room(cache);
}

/*
 * One that takes the answer, in place of one that does not. Who asked last is right: an answer that
 * was overtaken is for its own query alone.
 */
static struct name_binary *take_other(struct name_cache *cache, struct name_binary *binary,
				      const struct name_answer *answer)
{
	struct name_binary *listed = find_listed(cache, binary->build_id), *other;

	if (listed && name_binary_takes(listed, answer->answer->generation)) {
		listed->takers++;
		return listed;
	}
	other = name_binary_new(binary->build_id);
	other->takers++;
	count_bytes(cache, other, name_binary_held(other));
	if (!name_binary_put(other, answer))
		abort(); /* an empty one takes any */
	if (listed && name_binary_asked_ns(listed) > answer->asked_ns)
		return other;
	if (listed) {
		unlist(cache, listed);
		metric_add(&generations, 1);
	}
	list(cache, other);
	return other;
}

/* For all. */

struct name_binary *name_cache_take(struct name_cache *cache, str build_id)
{
	pthread_mutex_lock(&cache->lock);

	struct name_binary *binary = take(cache, build_id);

	pthread_mutex_unlock(&cache->lock);
	return binary;
}

void name_cache_give(struct name_cache *cache, struct name_binary *binary)
{
	pthread_mutex_lock(&cache->lock);
	give(cache, binary);
	pthread_mutex_unlock(&cache->lock);
}

void name_cache_done(struct name_cache *cache)
{
	while (cache->oldest)
		unlist(cache, cache->oldest);
	assert(cache->bytes == 0);
	pthread_mutex_destroy(&cache->lock);
}

struct name_binary *name_cache_put(struct name_cache *cache, struct name_binary *binary,
				   const struct name_answer *answer, size_t *grown)
{
	while (!name_binary_put(binary, answer)) {
		struct name_binary *other;

		pthread_mutex_lock(&cache->lock);
		other = take_other(cache, binary, answer);
		give(cache, binary);
		pthread_mutex_unlock(&cache->lock);
		binary = other;
	}
	pthread_mutex_lock(&cache->lock);

	size_t before = binary->counted, held = name_binary_held(binary);

	if (held > before)
		*grown += held - before;
	count_bytes(cache, binary, held);
	make_room(cache);
	pthread_mutex_unlock(&cache->lock);
	return binary;
}
