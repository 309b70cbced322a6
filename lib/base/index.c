// SPDX-License-Identifier: Apache-2.0
#include "base/index.h"

enum { CAP_MIN = 16 };

typedef INDEX(char) any_index;

void index_grow_(struct arena *arena, void *index, size_t size, size_t count)
{
	any_index raw;
	size_t cap = CAP_MIN;

	memcpy(&raw, index, sizeof(raw));
	while (cap < count * 2)
		cap *= 2;

	const char *old = (const char *)raw.slots;
	char *slots = arena ? arena_alloc(arena, cap, size, _Alignof(max_align_t))
			    : heap_zeroed(cap, size);

	for (size_t i = 0; i < raw.cap; i++) {
		uint32_t mark = index_mark_(old, size, i);
		size_t at = mark & (cap - 1);

		if (!mark)
			continue;
		while (index_mark_(slots, size, at))
			at = (at + 1) & (cap - 1);
		memcpy(slots + at * size, old + i * size, size);
	}
	if (!arena)
		free(raw.slots);
	raw.slots = (void *)slots;
	raw.cap = cap;
	memcpy(index, &raw, sizeof(raw));
}

/* The slots behind the freed one move up, as far as their own hash permits, so that a search never
 * stops at the free slot before it reaches them. */
void index_remove_at_(void *index, size_t size, size_t at)
{
	any_index raw;

	memcpy(&raw, index, sizeof(raw));

	char *slots = (char *)raw.slots;
	size_t mask = raw.cap - 1;

	for (size_t next = (at + 1) & mask;; next = (next + 1) & mask) {
		uint32_t mark = index_mark_(slots, size, next);

		if (!mark)
			break;
		if (((next - mark) & mask) >= ((next - at) & mask)) {
			memcpy(slots + at * size, slots + next * size, size);
			at = next;
		}
	}
	memset(slots + at * size, 0, size);
	raw.len--;
	memcpy(index, &raw, sizeof(raw));
}
