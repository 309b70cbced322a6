// SPDX-License-Identifier: Apache-2.0
/*
 * hash - XXH3, the hash of every stored id and checksum, and seeded hashes for tables in memory.
 *
 * An id is XXH3 with seed 0 over length-prefixed fields (varint length, bytes), so that two
 * different lists of fields never give the same input. Stored ids and checksums depend on this
 * function: it must never change.
 *
 * The hash of a key that untrusted input chooses is seeded with a secret, so that a client cannot
 * choose keys that collide in a table. The secret differs in each process and is never stored. Any
 * thread; no function fails. https://github.com/Cyan4973/xxHash
 */
#pragma once

#include "base/str.h"

typedef struct {
	uint64_t high, low;
} hash128;

uint64_t hash_64(str bytes);
hash128 hash_128(str bytes);

/* A random number that is chosen once for the life of the process. */
uint64_t hash_seed(void);

/* For tables in memory: all bits of both hashes depend on all bits of the key and the seed. */
uint64_t hash_seeded(str bytes, uint64_t seed);

static inline uint64_t hash_seeded_u64(uint64_t key, uint64_t seed)
{
	uint64_t mixed = (key ^ seed) * UINT64_C(0xff51afd7ed558ccd);

	mixed = (mixed ^ mixed >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
	return mixed ^ mixed >> 32;
}

static inline bool hash128_eq(hash128 a, hash128 b)
{
	return a.high == b.high && a.low == b.low;
}
