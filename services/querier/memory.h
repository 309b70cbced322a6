// SPDX-License-Identifier: Apache-2.0
/*
 * memory - what the parts of one answer hold together, each in a thread and an arena of its own.
 */
#pragma once

#include "base/base.h"

#include <stdatomic.h>

struct memory {
	_Atomic size_t used;
};

/* A part's: what it used when it was last asked. */
struct memory_part {
	struct memory *total; /* NULL: it is alone */
	size_t used;
};

/* Say what it uses now, and hear what all use. */
static inline size_t memory_update(struct memory_part *part, size_t used)
{
	size_t grown = used - part->used; /* wraps where it shrank, as the sum does */

	if (!part->total)
		return used;
	part->used = used;
	return atomic_fetch_add(&part->total->used, grown) + grown;
}
