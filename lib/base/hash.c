// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include "base/clock.h"

#define XXH_INLINE_ALL
#include <pthread.h>
#include <sys/random.h>
#include <xxhash.h>

static uint64_t seed_of_process;

static void choose_seed(void)
{
	ssize_t size = sizeof(seed_of_process);

	if (getrandom(&seed_of_process, sizeof(seed_of_process), GRND_NONBLOCK) != size)
		seed_of_process = clock_unix_ns(); /* GCOVR_EXCL_LINE: early in the boot */
}

uint64_t hash_seed(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, choose_seed);
	return seed_of_process;
}

uint64_t hash_seeded(str bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes.ptr, bytes.len, seed);
}

uint64_t hash_64(str bytes)
{
	return XXH3_64bits(bytes.ptr, bytes.len);
}

hash128 hash_128(str bytes)
{
	XXH128_hash_t hash = XXH3_128bits(bytes.ptr, bytes.len);

	return (hash128){ .high = hash.high64, .low = hash.low64 };
}
