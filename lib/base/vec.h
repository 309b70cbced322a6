// SPDX-License-Identifier: Apache-2.0
/*
 * vec - a growable array in an arena.
 *
 *     VEC(struct frame) frames = { 0 };
 *     *vec_push(arena, &frames) = (struct frame){ .pc = pc };
 *
 * When the array grows, its items are copied and the old ones stay in the arena until it is reset,
 * so pointers to items are valid only until the next push or reserve. A zeroed vec is empty;
 * nothing is closed. One thread. No operation fails.
 */
#pragma once

#include "base/arena.h"

#include <string.h>

#define VEC(type)                \
	struct {                 \
		type *items;     \
		size_t len, cap; \
	}

/* Append an item and return a pointer to the item, which the caller sets. The bytes of the item are
 * undefined if items were removed before by lowering `len`, else zero. */
#define vec_push(arena, vec)                                                                   \
	((vec)->len == (vec)->cap ? vec_grow((arena), (vec), sizeof(*(vec)->items)) : (void)0, \
	 &(vec)->items[(vec)->len++])

static inline void vec_resize(struct arena *arena, void *vec, size_t size, size_t cap)
{
	VEC(void) raw;

	memcpy(&raw, vec, sizeof(raw));

	void *items = arena_alloc(arena, cap, size, _Alignof(max_align_t));

	if (raw.len)
		memcpy(items, raw.items, raw.len * size);
	raw.items = items;
	raw.cap = cap;
	memcpy(vec, &raw, sizeof(raw));
}

static inline void vec_grow(struct arena *arena, void *vec, size_t size)
{
	VEC(void) raw;

	memcpy(&raw, vec, sizeof(raw));
	vec_resize(arena, vec, size, raw.cap ? raw.cap * 2 : 8);
}

/* Make the capacity at least `count` items, so that a known number of pushes grows it only once. */
#define vec_reserve(arena, vec, count)                                                     \
	((vec)->cap < (count) ? vec_resize((arena), (vec), sizeof(*(vec)->items), (count)) \
			      : (void)0)
