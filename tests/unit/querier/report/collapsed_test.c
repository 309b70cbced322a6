// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/report/collapsed_internal.h"
#include "support/test.h"

static const struct group_by ungrouped;
static struct err err;

static void assert_collapsed(struct merge *merge, const char *expected)
{
	AUTO_ARENA arena = { 0 };
	str text;

	assert_true(collapsed_write(merge, &arena, &text, &err));
	assert_string_equal(str_z(&arena, text), expected);
}

static void shows_frames_without_symbols_by_their_address(void **state)
{
	static const struct frame frames[] = {
		{ .function = { "a;b\nc", 5 } },
		{ .path = { "/usr/bin/x y", 12 }, .address = 0x1f },
		{ .path = { "[vdso]", 6 }, .address = 0xff00 },
		{ .address = 1 },
		{ .path = { "/dir/", 5 }, .address = 2 },
	};
	AUTO_ARENA arena = { 0 };
	struct sample_set row;
	struct merge merge;
	uint32_t indexes[ARRAY_LEN(frames)];

	(void)state;
	sample_set_init(&row, &arena);
	sample_set_series(&row, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 0);
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		indexes[i] = sample_set_frame(&row, &frames[i]);
	sample_set_add(&row,
		       (struct sample){ .stack = sample_set_stack(&row, indexes, ARRAY_LEN(frames)),
					.value = 3 });
	sample_set_add(&row, (struct sample){ .value = 4 });
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	assert_true(merge_add_row(&merge, &row, &err));
	assert_collapsed(&merge, "[no stack] 4\n"
				 "a:b?c;x y+0x1f;[vdso]+0xff00;[unknown]+0x1;[unknown]+0x2 3\n");
}

static void stacks_with_the_same_text_are_one_line(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct frame one = { .function = STR("f"), .path = STR("/a") };
	struct frame other = { .function = STR("f"), .path = STR("/b") };
	struct sample_set row;
	struct merge merge;
	uint32_t index;

	(void)state;
	sample_set_init(&row, &arena);
	sample_set_series(&row, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 0);
	index = sample_set_frame(&row, &one);
	sample_set_add(&row,
		       (struct sample){ .stack = sample_set_stack(&row, &index, 1), .value = 1 });
	index = sample_set_frame(&row, &other);
	sample_set_add(&row,
		       (struct sample){ .stack = sample_set_stack(&row, &index, 1), .value = 2 });
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	assert_true(merge_add_row(&merge, &row, &err));
	assert_int_equal(merge.set.samples.len, 2);
	assert_collapsed(&merge, "f 3\n");
}

/* Two stacks of one frame each, `f` in binaries /a and /b. */
static void make_twins(struct sample_set *row, struct arena *arena, int64_t value)
{
	static const struct frame twins[] = {
		{ .function = { "f", 1 }, .path = { "/a", 2 } },
		{ .function = { "f", 1 }, .path = { "/b", 2 } },
	};

	sample_set_init(row, arena);
	sample_set_series(row, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 0);
	for (size_t i = 0; i < ARRAY_LEN(twins); i++) {
		uint32_t index = sample_set_frame(row, &twins[i]);

		sample_set_add(row, (struct sample){ .stack = sample_set_stack(row, &index, 1),
						     .value = value });
	}
}

static void a_joined_sum_beyond_64_bits_is_an_error(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set row;
	struct merge merge;
	str text;

	(void)state;
	make_twins(&row, &arena, INT64_MAX);
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	assert_true(merge_add_row(&merge, &row, &err));
	assert_false(collapsed_write(&merge, &arena, &text, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void lines_count_as_memory_of_the_response(void **state)
{
	AUTO_ARENA arena = { 0 }, of_lines = { 0 };
	struct sample_set row;
	struct merge merge;
	str text;

	(void)state;
	make_twins(&row, &arena, 1);
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	assert_true(merge_add_row(&merge, &row, &err));
	merge.memory_max = arena.size; /* all of it is used */
	assert_false(collapsed_write(&merge, &of_lines, &text, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

RUN_TESTS(TEST(shows_frames_without_symbols_by_their_address),
	  TEST(stacks_with_the_same_text_are_one_line),
	  TEST(a_joined_sum_beyond_64_bits_is_an_error),
	  TEST(lines_count_as_memory_of_the_response))
