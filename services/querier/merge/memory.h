// SPDX-License-Identifier: Apache-2.0
/*
 * memory - counts the memory that the parts of one response use together.
 *
 * Each part belongs to one thread and has an arena of its own; the total is atomic.
 */
#pragma once

#include "base/base.h"

#include <stdatomic.h>

struct memory {
	_Atomic size_t used; /* bytes */
};

/* One part, and the bytes that it reported last. A zeroed part is valid and stands alone. */
struct memory_part {
	struct memory *total; /* NULL: the part stands alone */
	size_t used;
};

/* Reports the bytes that the part uses now; 0 when it is freed. Returns the bytes of all parts, or
 * of this part if it stands alone. */
static inline size_t memory_update(struct memory_part *part, size_t used)
{
	size_t grown = used - part->used; /* wraps if it shrank; the sum below wraps back */

	if (!part->total)
		return used;
	part->used = used;
	return atomic_fetch_add(&part->total->used, grown) + grown;
}
