// SPDX-License-Identifier: Apache-2.0
/*
 * seen_ids - a cache of ids that were written already and need not be written again.
 *
 * The cache has two generations. When the young generation is full, it becomes the old one, and the
 * ids of the previous old generation are evicted, except ids that were looked up since: a lookup
 * moves an id to the young generation. An eviction costs one upsert that changes nothing. No
 * function fails. One thread.
 */
#pragma once

#include "base/index.h"

typedef INDEX(uint64_t) seen_index;

struct seen_ids {
	/* private */
	seen_index young, old;
	size_t max;
};

/* An empty cache; overwrites *ids. max: keys per generation. */
void seen_ids_init(struct seen_ids *ids, size_t max);

/* Frees the memory. Accepts {0}. */
void seen_ids_done(struct seen_ids *ids);

/* True if the key is in the cache; moves the key to the young generation. */
bool seen_ids_has(struct seen_ids *ids, uint64_t key);

/* Adds the key; may evict others. A key that is there already is no error. */
void seen_ids_add(struct seen_ids *ids, uint64_t key);

/* Empties the cache: after a crash or failover the database may have lost commits. */
void seen_ids_clear(struct seen_ids *ids);
