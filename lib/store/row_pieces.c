// SPDX-License-Identifier: Apache-2.0
#include "store/row_pieces.h"

static struct row_pieces whole(size_t payload_len, struct arena *arena)
{
	struct row_piece *piece = arena_new(arena, struct row_piece);

	piece->len = payload_len;
	return (struct row_pieces){ .pieces = piece, .count = 1, .len = payload_len };
}

static bool any(const bool *series, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (series[i])
			return true;
	return false;
}

struct row_pieces row_pieces_choose(const struct chunk_directory *directory, const bool *series,
				    size_t payload_len, struct arena *arena)
{
	const struct chunk_layout *layout = &directory->layout;
	struct row_piece *pieces = arena_array(arena, struct row_piece, layout->slice_count + 1);
	struct row_pieces chosen = { .pieces = pieces, .count = 1, .len = layout->head_len };
	size_t at = layout->head_len;

	if (!layout->slice_count)
		return whole(payload_len, arena);
	pieces[0].len = layout->head_len;
	for (size_t i = 0; i < layout->slice_count; i++) {
		const struct chunk_slice *slice = &layout->slices[i];
		struct row_piece *last = &pieces[chosen.count - 1];

		if (any(series, slice->series_count)) {
			chosen.slices++;
			chosen.len += slice->len;
			if (last->at + last->len == at)
				last->len += slice->len;
			else
				pieces[chosen.count++] = (struct row_piece){ at, slice->len };
		}
		at += slice->len;
		series += slice->series_count;
	}
	if (at != payload_len || !chosen.slices || chosen.len > payload_len / 4 * 3)
		return whole(payload_len, arena);
	return chosen;
}
