// SPDX-License-Identifier: Apache-2.0
#include "name_wanted.h"

#include "base/map.h"

#include <assert.h>

enum { NOT_WANTED = 0 };

/* The binary's number, from 1. */
static uint32_t number_of(struct name_list *list, struct map *numbers, str build_id)
{
	void **place = map_at(numbers, build_id);

	if (!*place) {
		struct name_wanted *wanted = vec_push(numbers->arena, &list->binaries);

		assert(wanted);
		*wanted = (struct name_wanted){ .build_id = build_id };
		*place = (void *)list->binaries.len;
	}
	return (uint32_t)(uintptr_t)*place;
}

static void add(struct name_wanted *wanted, const struct frame *frame, size_t index)
{
	assert(wanted && wanted->addresses && wanted->frames);
	wanted->addresses[wanted->count] = frame->address;
	wanted->frames[wanted->count++] = (uint32_t)index;
}

struct name_list name_list_of(const struct merge *merge, struct arena *arena)
{
	const struct frame *frames = merge->set.frames.items;
	uint32_t *numbers = arena_array(arena, uint32_t, merge->set.frames.len);
	struct map map = { .arena = arena };
	struct name_list list = { 0 };

	for (size_t i = 0; i < merge->set.frames.len; i++) {
		if (!name_is_wanted(&frames[i]))
			continue;
		numbers[i] = number_of(&list, &map, frames[i].build_id);
		list.binaries.items[numbers[i] - 1].count++;
		list.addresses++;
	}
	for (size_t i = 0; i < list.binaries.len; i++) {
		struct name_wanted *wanted = &list.binaries.items[i];

		wanted->addresses = arena_array(arena, uint64_t, wanted->count);
		wanted->frames = arena_array(arena, uint32_t, wanted->count);
		wanted->names = arena_array(arena, struct name, wanted->count);
		wanted->missing = arena_array(arena, uint32_t, wanted->count);
		wanted->count = 0;
	}
	for (size_t i = 0; i < merge->set.frames.len; i++)
		if (numbers[i] != NOT_WANTED)
			add(&list.binaries.items[numbers[i] - 1], &frames[i], i);
	return list;
}
