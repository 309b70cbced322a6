// SPDX-License-Identifier: Apache-2.0
#include "querier/report/flame_paths_internal.h"
#include "querier/report/frame_text_internal.h"
#include "wire/symbolize.h"

#include <inttypes.h>

/* A symbol without a number yet, and where to store the number. */
struct pending_symbol {
	struct flame_symbol symbol;
	uint32_t *place;
};

int flame_symbol_compare(const struct flame_symbol *a, const struct flame_symbol *b)
{
	int order = str_compare(a->name, b->name);

	if (!order)
		order = str_compare(a->binary, b->binary);
	if (!order)
		order = str_compare(a->file, b->file);
	return order ? order : str_compare(a->build_id, b->build_id);
}

static int compare_pending(const void *a, const void *b)
{
	return flame_symbol_compare(&((const struct pending_symbol *)a)->symbol,
				    &((const struct pending_symbol *)b)->symbol);
}

/* Why the function of a frame is unknown. NAME_KNOWN: it was not symbolized. */
static enum name_reason reason_of(const struct merge *merge, size_t index)
{
	const struct frame *frame = &merge->set.frames.items[index];

	if (!frame->build_id.len)
		return frame->path.len ? NAME_NO_BUILD_ID : NAME_NO_FILE;
	return merge->reasons ? (enum name_reason)merge->reasons[index] : NAME_KNOWN;
}

static struct flame_symbol symbol_of_frame(const struct merge *merge, size_t index,
					   struct arena *arena)
{
	const struct frame *frame = &merge->set.frames.items[index];
	struct flame_symbol symbol = { .name = frame_text(frame, arena), .binary = frame->path };

	if (frame->function.len) {
		symbol.file = frame->file;
	} else {
		symbol.build_id = frame->build_id;
		symbol.address = str_format(arena, "0x%" PRIx64, frame->address);

		enum name_reason reason = reason_of(merge, index);

		symbol.reason = str_from(name_reason_text[reason]);
		if (reason != NAME_KNOWN)
			symbol.reason_code = str_from(name_reason_names[reason]);
	}
	return symbol;
}

static str group_text(const struct merge *merge, struct labels labels, size_t i,
		      struct arena *arena)
{
	str name = merge->group_by->names[i];
	str value = labels_get(labels, name);

	return str_format(arena, STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value));
}

static void number_symbols(struct flame_paths *paths, struct pending_symbol *pending, size_t count,
			   struct arena *arena)
{
	qsort(pending, count, sizeof(*pending), compare_pending);
	paths->symbols = arena_array(arena, struct flame_symbol, count);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || compare_pending(&pending[i - 1], &pending[i]) != 0)
			paths->symbols[paths->symbol_count++] = pending[i].symbol;
		*pending[i].place = (uint32_t)paths->symbol_count - 1;
	}
}

static void make_symbols(struct flame_paths *paths, struct arena *arena)
{
	const struct merge *merge = paths->merge;
	const struct sample_set *set = &merge->set;
	size_t by = merge->group_by->len, groups = set->label_sets.len * by, count = 0;
	struct pending_symbol *pending =
		arena_array(arena, struct pending_symbol, set->frames.len + groups + 1);

	paths->of_frame = arena_array(arena, uint32_t, set->frames.len);
	paths->of_group = arena_array(arena, uint32_t, groups);
	for (size_t i = 0; i < set->frames.len; i++)
		pending[count++] = (struct pending_symbol){ symbol_of_frame(merge, i, arena),
							    &paths->of_frame[i] };
	for (size_t i = 0; i < groups; i++) {
		struct labels labels = set->label_sets.items[i / by];

		pending[count++] = (struct pending_symbol){
			{ .name = group_text(merge, labels, i % by, arena) }, &paths->of_group[i]
		};
	}
	pending[count++] = (struct pending_symbol){ { .name = NO_STACK }, &paths->no_stack };
	number_symbols(paths, pending, count, arena);
}

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

bool flame_paths_make(struct flame_paths *paths, struct merge *merge, struct arena *arena,
		      struct err *err)
{
	size_t count = merge->set.samples.len;
	uint32_t *order = arena_array(arena, uint32_t, count);

	*paths = (struct flame_paths){ .merge = merge, .order = order };
	make_symbols(paths, arena);
	if (!merge_within_memory(merge, arena, err))
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	if (count)
		qsort_r(order, count, sizeof(*order), compare_paths, paths);
	return true;
}
