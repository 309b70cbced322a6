// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_64(str bytes)
{
	return XXH3_64bits(bytes.ptr, bytes.len);
}

hash128 hash_128(str bytes)
{
	XXH128_hash_t hash = XXH3_128bits(bytes.ptr, bytes.len);

	return (hash128){ .high = hash.high64, .low = hash.low64 };
}
