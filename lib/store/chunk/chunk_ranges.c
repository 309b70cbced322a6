// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_ranges.h"

static struct chunk_ranges whole(size_t payload_len, struct arena *arena)
{
	struct chunk_range *range = arena_new(arena, struct chunk_range);

	range->len = payload_len;
	return (struct chunk_ranges){ .ranges = range, .count = 1, .len = payload_len };
}

static bool any(const bool *series, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (series[i])
			return true;
	return false;
}

struct chunk_ranges chunk_ranges_choose(const struct chunk_directory *directory, const bool *series,
					size_t payload_len, struct arena *arena)
{
	const struct chunk_layout *layout = &directory->layout;
	struct chunk_range *ranges =
		arena_array(arena, struct chunk_range, layout->slice_count + 1);
	struct chunk_ranges chosen = { .ranges = ranges, .count = 1, .len = layout->head_len };
	size_t at = layout->head_len;

	if (!layout->slice_count)
		return whole(payload_len, arena);
	ranges[0].len = layout->head_len;
	for (size_t i = 0; i < layout->slice_count; i++) {
		const struct chunk_slice *slice = &layout->slices[i];
		struct chunk_range *last = &ranges[chosen.count - 1];

		if (any(series, slice->series_count)) {
			chosen.slices++;
			chosen.len += slice->len;
			if (last->at + last->len == at)
				last->len += slice->len;
			else
				ranges[chosen.count++] = (struct chunk_range){ at, slice->len };
		}
		at += slice->len;
		series += slice->series_count;
	}
	if (at != payload_len || !chosen.slices || chosen.len > payload_len / 4 * 3)
		return whole(payload_len, arena);
	return chosen;
}
