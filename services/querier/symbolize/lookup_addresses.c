// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"
#include "querier/symbolize/lookup_addresses_internal.h"

#include <assert.h>

enum { NO_BINARY = 0 };

/* The number of the binary, from 1; adds the binary if it is new. */
static uint32_t number_of(struct lookup_addresses *addresses, struct map *numbers, str build_id)
{
	void **place = map_at(numbers, build_id);

	if (!*place) {
		struct lookup_binary *binary = vec_push(numbers->arena, &addresses->binaries);

		assert(binary);
		*binary = (struct lookup_binary){ .build_id = build_id };
		*place = (void *)addresses->binaries.len;
	}
	return (uint32_t)(uintptr_t)*place;
}

static void add(struct lookup_binary *binary, const struct frame *frame, size_t index)
{
	assert(binary && binary->addresses && binary->frames);
	binary->addresses[binary->count] = frame->address;
	binary->frames[binary->count++] = (uint32_t)index;
}

struct lookup_addresses lookup_addresses_of(const struct merge *merge, struct arena *arena)
{
	const struct frame *frames = merge->set.frames.items;
	uint32_t *numbers = arena_array(arena, uint32_t, merge->set.frames.len);
	struct map map = { .arena = arena };
	struct lookup_addresses addresses = { 0 };

	for (size_t i = 0; i < merge->set.frames.len; i++) {
		if (!frame_needs_symbol(&frames[i]))
			continue;
		numbers[i] = number_of(&addresses, &map, frames[i].build_id);
		addresses.binaries.items[numbers[i] - 1].count++;
		addresses.address_count++;
	}
	for (size_t i = 0; i < addresses.binaries.len; i++) {
		struct lookup_binary *binary = &addresses.binaries.items[i];

		binary->addresses = arena_array(arena, uint64_t, binary->count);
		binary->frames = arena_array(arena, uint32_t, binary->count);
		binary->resolved = arena_array(arena, struct address_lines, binary->count);
		binary->missing = arena_array(arena, uint32_t, binary->count);
		binary->count = 0;
	}
	for (size_t i = 0; i < merge->set.frames.len; i++)
		if (numbers[i] != NO_BINARY)
			add(&addresses.binaries.items[numbers[i] - 1], &frames[i], i);
	return addresses;
}
