// SPDX-License-Identifier: Apache-2.0
/*
 * memory - the memory that the parts of one response use together.
 *
 * Each part belongs to one thread and has an arena of its own; the total is atomic.
 */
#pragma once

#include "base/base.h"

#include <stdatomic.h>

struct memory {
	_Atomic size_t used; /* bytes */
};

/* One part, and the bytes that it reported last. Zero is a valid part without a total. */
struct memory_part {
	struct memory *total; /* NULL: the part stands alone */
	size_t used;
};

/* Report the bytes that the part uses now; returns the bytes of all parts. */
static inline size_t memory_update(struct memory_part *part, size_t used)
{
	size_t grown = used - part->used; /* wraps if it shrank; the sum below wraps back */

	if (!part->total)
		return used;
	part->used = used;
	return atomic_fetch_add(&part->total->used, grown) + grown;
}
