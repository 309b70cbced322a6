// SPDX-License-Identifier: Apache-2.0
/*
 * hash - XXH3, the hash of every stored id and checksum.
 *
 * An id is XXH3 with seed 0 over length-prefixed fields (varint length, bytes), so that two
 * different lists of fields never give the same input. Stored ids and checksums depend on this
 * function: it must never change. Any thread; no function fails. https://github.com/Cyan4973/xxHash
 */
#pragma once

#include "base/str.h"

typedef struct {
	uint64_t high, low;
} hash128;

uint64_t hash_64(str bytes);
hash128 hash_128(str bytes);

static inline bool hash128_eq(hash128 a, hash128 b)
{
	return a.high == b.high && a.low == b.low;
}
