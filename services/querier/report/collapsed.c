// SPDX-License-Identifier: Apache-2.0
#include "querier/report/collapsed_internal.h"
#include "querier/report/frame_text_internal.h"

#include <inttypes.h>
#include <stdio.h>

struct line {
	str stack;
	int64_t value;
};

/* Replace characters that would split a line or a frame. */
static void replace_separators(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == ';')
			text[i] = ':';
		else if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	}
}

static str line_frame(const struct frame *frame, struct arena *arena)
{
	str name = frame_text(frame, arena);
	char *copy = arena_array(arena, char, name.len + 1);

	memcpy(copy, name.ptr, name.len);
	replace_separators(copy, name.len);
	return (str){ copy, name.len };
}

static str group_prefix(const struct merge *merge, struct labels labels, struct arena *arena)
{
	struct buf out = { .arena = arena };

	for (size_t i = 0; i < merge->group_by->len; i++) {
		str name = merge->group_by->names[i];
		size_t begin = out.len;

		buf_str(&out, name);
		buf_u8(&out, '=');
		buf_str(&out, labels_get(labels, name));
		replace_separators(out.ptr + begin, out.len - begin);
		buf_u8(&out, ';');
	}
	return buf_bytes(&out);
}

static char *put(char *at, str text)
{
	if (text.len)
		memcpy(at, text.ptr, text.len);
	return at + text.len;
}

static str stack_text(str prefix, struct stack stack, const str *names, struct arena *arena)
{
	size_t len = prefix.len + (stack.len ? stack.len - 1 : NO_STACK.len);

	for (size_t i = 0; i < stack.len; i++)
		len += names[stack.frames[i]].len;

	char *text = arena_array(arena, char, len);
	char *at = put(text, prefix);

	if (stack.len == 0)
		put(at, NO_STACK);
	for (size_t i = 0; i < stack.len; i++) {
		if (i > 0)
			*at++ = ';';
		at = put(at, names[stack.frames[i]]);
	}
	return (str){ text, len };
}

static int compare_lines(const void *a, const void *b)
{
	return str_compare(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

static bool make_lines(struct merge *merge, struct arena *arena, struct line *lines,
		       struct err *err)
{
	const struct sample_set *set = &merge->set;
	str *names = arena_array(arena, str, set->frames.len);
	str *prefixes = arena_array(arena, str, set->label_sets.len);

	for (size_t i = 0; i < set->frames.len; i++)
		names[i] = line_frame(&set->frames.items[i], arena);
	for (size_t i = 0; i < set->label_sets.len; i++)
		prefixes[i] = group_prefix(merge, set->label_sets.items[i], arena);
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];

		lines[i].stack = stack_text(prefixes[sample->labels],
					    set->stacks.items[sample->stack], names, arena);
		lines[i].value = sample->value;
		if (!merge_within_memory(merge, arena, err))
			return false;
	}
	return true;
}

/* Different stacks may have the same text: functions of the same name in two binaries. */
static bool join_equal(struct line *lines, size_t *count, struct err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		struct line *last = kept ? &lines[kept - 1] : NULL;

		if (!last || !str_eq(last->stack, lines[i].stack))
			lines[kept++] = lines[i];
		else if (__builtin_add_overflow(last->value, lines[i].value, &last->value))
			return merge_overflow(err);
	}
	*count = kept;
	return true;
}

bool collapsed_write(struct merge *merge, struct arena *arena, str *ret_text, struct err *err)
{
	size_t count = merge->set.samples.len;
	struct line *lines = arena_array(arena, struct line, count);
	struct buf out = { .arena = arena };

	if (!make_lines(merge, arena, lines, err))
		return false;
	if (count)
		qsort(lines, count, sizeof(*lines), compare_lines);
	if (!join_equal(lines, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		char value[32];

		buf_str(&out, lines[i].stack);
		buf_bytes_add(
			&out, value,
			(size_t)snprintf(value, sizeof(value), " %" PRId64 "\n", lines[i].value));
		if (!merge_within_memory(merge, arena, err))
			return false;
	}
	*ret_text = buf_bytes(&out);
	return true;
}
