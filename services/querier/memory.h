// SPDX-License-Identifier: Apache-2.0
/*
 * memory - what the parts of one answer hold together, each in a thread and an arena of its own.
 */
#pragma once

#include "base/base.h"

#include <stdatomic.h>

struct memory {
	_Atomic size_t held;
};

/* A part's: what it held when it was last asked. */
struct memory_share {
	struct memory *memory; /* NULL: it is alone */
	size_t held;
};

/* Say what it holds now, and hear what all hold. */
static inline size_t memory_held(struct memory_share *share, size_t held)
{
	size_t grown = held - share->held; /* wraps where it shrank, as the sum does */

	if (!share->memory)
		return held;
	share->held = held;
	return atomic_fetch_add(&share->memory->held, grown) + grown;
}
