// SPDX-License-Identifier: Apache-2.0
/*
 * known - which keys were written already, so that they need not be written again.
 *
 * Two generations: when the young one is full it becomes the old one, and what was in the old one
 * is forgotten unless it was asked for since. Forgetting costs an upsert that changes nothing.
 */
#pragma once

#include "base/base.h"

struct known {
	/* private */
	uint64_t *young, *old; /* open addressing, 0 is free */
	size_t slots, young_count, max;
};

/* max: keys per generation. */
void known_init(struct known *known, size_t max);
void known_done(struct known *known);

bool known_has(struct known *known, uint64_t key);
void known_add(struct known *known, uint64_t key);

/* The database may have gone back in time: believe nothing. */
void known_clear(struct known *known);
