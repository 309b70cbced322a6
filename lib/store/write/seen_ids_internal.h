// SPDX-License-Identifier: Apache-2.0
/*
 * seen_ids - a cache of ids that were written already and need not be written again.
 *
 * It has two generations. When the young one is full it becomes the old one, and the ids of the
 * previous old one are evicted, except those that were looked up since: they moved to the young
 * one. An eviction costs one upsert that changes nothing. Not thread-safe.
 */
#pragma once

#include "base/base.h"

struct seen_ids {
	/* private */
	uint64_t *young, *old; /* open addressing, 0: free slot */
	size_t slots, young_count, max;
};

/* max: keys per generation. */
void seen_ids_init(struct seen_ids *ids, size_t max);
void seen_ids_done(struct seen_ids *ids);

bool seen_ids_has(struct seen_ids *ids, uint64_t key);
void seen_ids_add(struct seen_ids *ids, uint64_t key);

/* Empties the cache: after a crash or failover the database may have lost commits. */
void seen_ids_clear(struct seen_ids *ids);
