// SPDX-License-Identifier: Apache-2.0
/*
 * known - which keys were written already, so that they need not be written again.
 *
 * Two generations: when the young one is full it becomes the old one, and what was in the old one
 * is forgotten unless it was asked for since. Forgetting costs an upsert that changes nothing.
 */
#pragma once

#include "base/base.h"

struct seen_ids {
	/* private */
	uint64_t *young, *old; /* open addressing, 0 is free */
	size_t slots, young_count, max;
};

/* max: keys per generation. */
void seen_ids_init(struct seen_ids *ids, size_t max);
void seen_ids_done(struct seen_ids *ids);

bool seen_ids_has(struct seen_ids *ids, uint64_t key);
void seen_ids_add(struct seen_ids *ids, uint64_t key);

/* The database may have gone back in time: believe nothing. */
void seen_ids_clear(struct seen_ids *ids);
