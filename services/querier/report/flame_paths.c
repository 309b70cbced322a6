// SPDX-License-Identifier: Apache-2.0
#include "querier/report/flame_paths_internal.h"

size_t flame_path_len(const struct flame_paths *paths, const struct sample *sample)
{
	size_t len = paths->merge->set.stacks.items[sample->stack].len;

	return paths->merge->group_by->len + (len ? len : 1);
}

uint32_t flame_path_at(const struct flame_paths *paths, const struct sample *sample, size_t i)
{
	struct stack stack = paths->merge->set.stacks.items[sample->stack];
	size_t by = paths->merge->group_by->len;

	if (i < by)
		return paths->of_group[sample->labels * by + i];
	return stack.len ? paths->of_frame[stack.frames[i - by]] : paths->no_stack;
}

static int compare_paths(const void *a, const void *b, void *self)
{
	const struct flame_paths *paths = self;
	const struct sample *samples = paths->merge->set.samples.items;
	const struct sample *left = &samples[*(const uint32_t *)a];
	const struct sample *right = &samples[*(const uint32_t *)b];
	size_t left_len = flame_path_len(paths, left), right_len = flame_path_len(paths, right);

	for (size_t i = 0; i < left_len && i < right_len; i++) {
		uint32_t x = flame_path_at(paths, left, i), y = flame_path_at(paths, right, i);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (left_len > right_len) - (left_len < right_len);
}

bool flame_paths_make(struct flame_paths *paths, const struct flame_symbols *symbols, size_t side,
		      struct arena *arena, struct err *err)
{
	struct merge *merge = symbols->merges[side];
	size_t count = merge->set.samples.len;
	uint32_t *order = arena_array(arena, uint32_t, count);

	*paths = (struct flame_paths){ .merge = merge,
				       .order = order,
				       .of_frame = symbols->of_frame[side],
				       .of_group = symbols->of_group[side],
				       .no_stack = symbols->no_stack };
	if (!merge_within_memory(merge, arena, err))
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	if (count)
		qsort_r(order, count, sizeof(*order), compare_paths, paths);
	return true;
}
