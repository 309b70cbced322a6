// SPDX-License-Identifier: Apache-2.0
#include "querier/report/unnamed.h"

#include "querier/report/binary_name.h"
#include "querier/report/frame_text_internal.h"

const char *const unnamed_remedies[NAME_REASON_COUNT] = {
	[NAME_KNOWN] = "start the querier with --symbolizer-url",
	[NAME_NO_DEBUG_INFO] =
		"upload its debug info, or name the debuginfod server of its distribution in "
		"--debuginfod-upstream-servers",
	[NAME_NO_SYMBOL] = "it is stripped: install its debug package on the host, or build it "
			   "with its symbols",
	[NAME_UNAVAILABLE] = "see the log of the symbolizer: the debuginfod server does not "
			     "respond",
	[NAME_MALFORMED] = "upload another debug file with force=true",
	[NAME_TOO_LARGE] = "raise the limits of the symbolizer, or build it with less debug info",
	[NAME_PENDING] = "repeat the query in some seconds",
	[NAME_BAD_BUILD_ID] = "link it with -Wl,--build-id",
	[NAME_NO_RESPONSE] = "check whether the symbolizer runs",
	[NAME_NO_FILE] = "the code was generated at run time, and its names are not read yet",
	[NAME_NO_BUILD_ID] = "link it with -Wl,--build-id",
};

static str program_of(const struct merge *merge, const struct sample *sample)
{
	struct labels labels = merge->set.label_sets.items[sample->labels];

	return binary_base_name(labels_get(labels, UNNAMED_GROUP_BY));
}

/* False: the leaf has a function, or the sample has no stack. */
static bool find_row(const struct merge *merge, const struct sample *sample,
		     struct unnamed_row *ret_row)
{
	struct stack stack = merge->set.stacks.items[sample->stack];

	if (!stack.len)
		return false;

	uint32_t leaf = stack.frames[stack.len - 1];
	const struct frame *frame = &merge->set.frames.items[leaf];
	enum name_reason reason = frame_reason(merge, leaf);

	if (frame->function.len)
		return false;
	*ret_row = (struct unnamed_row){ .binary = reason == NAME_NO_FILE
							   ? program_of(merge, sample)
							   : binary_base_name(frame->path),
					 .reason = reason,
					 .value = sample->value };
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	const struct unnamed_row *left = a, *right = b;
	int order = binary_name_compare(left->binary, right->binary);

	return order ? order : (int)left->reason - (int)right->reason;
}

static int compare_values(const void *a, const void *b)
{
	const struct unnamed_row *left = a, *right = b;

	if (left->value != right->value)
		return left->value > right->value ? -1 : 1;
	return compare_keys(a, b);
}

static void sort(struct unnamed *unnamed, int (*compare)(const void *, const void *))
{
	if (unnamed->rows.len)
		qsort(unnamed->rows.items, unnamed->rows.len, sizeof(*unnamed->rows.items),
		      compare);
}

/* Joins the rows of one binary and reason, which are neighbours. */
static bool join(struct unnamed *unnamed, struct err *err)
{
	struct unnamed_row *rows = unnamed->rows.items;
	size_t len = 0;

	for (size_t i = 0; i < unnamed->rows.len; i++) {
		if (!len || compare_keys(&rows[len - 1], &rows[i]) != 0)
			rows[len++] = rows[i];
		else if (__builtin_add_overflow(rows[len - 1].value, rows[i].value,
						&rows[len - 1].value))
			return merge_overflow(err);
	}
	unnamed->rows.len = len;
	return true;
}

bool unnamed_find(struct merge *merge, struct arena *arena, struct unnamed *ret_unnamed,
		  struct err *err)
{
	struct unnamed unnamed = { 0 };

	for (size_t i = 0; i < merge->set.samples.len; i++) {
		const struct sample *sample = &merge->set.samples.items[i];
		struct unnamed_row row;

		if (__builtin_add_overflow(unnamed.total, sample->value, &unnamed.total))
			return merge_overflow(err);
		if (!find_row(merge, sample, &row))
			continue;
		unnamed.value += row.value;
		*vec_push(arena, &unnamed.rows) = row;
		if (!merge_within_memory(merge, arena, err))
			return false;
	}
	sort(&unnamed, compare_keys);
	if (!join(&unnamed, err))
		return false;
	sort(&unnamed, compare_values);
	*ret_unnamed = unnamed;
	return true;
}
