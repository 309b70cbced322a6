// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/merge/merge.h"
#include "querier/report/collapsed_internal.h"
#include "support/test.h"

#include <stdio.h>

static const struct group_by ungrouped;
static struct err err;

/* A stack of functions, root first. */
static uint32_t stack_of(struct sample_set *set, const char *const *functions, size_t len)
{
	uint32_t frames[8];

	for (size_t i = 0; i < len; i++)
		frames[i] = sample_set_frame(set,
					     &(struct frame){ .type = STR("kernel"),
							      .function = str_from(functions[i]) });
	return sample_set_stack(set, frames, len);
}

/* A row with a sample of main;work by pid 7 and one of main by pid 8, both of comm `comm`. */
static void make_row(struct sample_set *set, struct arena *arena, const char *comm, int64_t value)
{
	static const char *const functions[] = { "main", "work" };
	struct label *of_series = arena_array(arena, struct label, 1);
	static const struct label seven = { { "pid", 3 }, { "7", 1 } };
	static const struct label eight = { { "pid", 3 }, { "8", 1 } };

	sample_set_init(set, arena);
	of_series[0] = (struct label){ STR("comm"), str_from(comm) };

	uint32_t series = sample_set_series(set, STR(PROFILE_TYPE_CPU),
					    (struct labels){ of_series, 1 }, 52631578);

	sample_set_add(set, (struct sample){
				    .series = series,
				    .stack = stack_of(set, functions, 2),
				    .labels = sample_set_labels(set, (struct labels){ &seven, 1 }),
				    .value = value,
				    .time_ms = 1 });
	sample_set_add(set, (struct sample){
				    .series = series,
				    .stack = stack_of(set, functions, 1),
				    .labels = sample_set_labels(set, (struct labels){ &eight, 1 }),
				    .value = 1,
				    .time_ms = 2 });
}

static void assert_collapsed(struct merge *merge, const char *expected)
{
	AUTO_ARENA arena = { 0 };
	str text;

	assert_true(collapsed_write(merge, &arena, &text, &err));
	assert_string_equal(str_z(&arena, text), expected);
}

static void sums_equal_stacks_of_all_rows(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge merge;

	(void)state;
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	for (int i = 0; i < 3; i++) {
		AUTO_ARENA gone = { 0 }; /* a row's memory is freed before the report is written */
		struct sample_set row;

		make_row(&row, &gone, i == 0 ? "a" : "b", 10 << i);
		assert_true(merge_add_row(&merge, &row, &err));
	}
	assert_int_equal(merge.set.samples.len, 2);
	assert_true(merge.set.series.items[0].period == 52631578);
	assert_collapsed(&merge, "main 3\nmain;work 70\n");
}

static void series_of_different_periods_have_none_in_common(void **state)
{
	static const struct {
		uint64_t periods[3];
		uint64_t expected;
	} rows[] = {
		{ { 0, 52631578, 52631578 }, 52631578 },
		{ { 52631578, 0, 0 }, 52631578 },
		{ { 52631578, 10309278, 52631578 }, 0 },
		{ { 10309278, 0, 52631578 }, 0 },
		{ { 0, 0, 0 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct merge merge, all;

		merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
		merge_init(&all, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
		for (size_t k = 0; k < ARRAY_LEN(rows[i].periods); k++) {
			struct sample_set row;

			make_row(&row, &arena, "a", 1);
			for (size_t s = 0; s < row.series.len; s++)
				row.series.items[s].period = rows[i].periods[k];
			assert_true(merge_add_row(&merge, &row, &err));
		}
		assert_int_equal(merge_period(&merge), rows[i].expected);
		/* a part of a parallel merge */
		assert_true(merge_combine(&all, &merge, &err));
		assert_int_equal(merge_period(&all), rows[i].expected);
	}
}

static void groups_by_labels_of_series_and_samples(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct group_by by = { .names = { STR("pid"), STR("comm"), STR("node") }, .len = 3 };
	struct sample_set a, b;
	struct merge merge;

	(void)state;
	make_row(&a, &arena, "a;\n", 5);
	make_row(&b, &arena, "b", 6);
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &by, 1 << 26, &arena);
	assert_true(merge_add_row(&merge, &a, &err) && merge_add_row(&merge, &b, &err) &&
		    merge_add_row(&merge, &b, &err));
	assert_collapsed(&merge, "pid=7;comm=a:?;node=;main;work 5\n"
				 "pid=7;comm=b;node=;main;work 12\n"
				 "pid=8;comm=a:?;node=;main 1\n"
				 "pid=8;comm=b;node=;main 2\n");
}

static void an_empty_merge_has_no_lines(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge merge;

	(void)state;
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	assert_collapsed(&merge, "");
}

static void ends_at_its_memory_limit(void **state)
{
	AUTO_ARENA arena = { 0 }, of_row = { 0 };
	struct sample_set row;
	struct merge merge;
	char name[16];

	(void)state;
	sample_set_init(&row, &of_row);
	sample_set_series(&row, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 0);
	for (int i = 0; i < 20000; i++) {
		int len = snprintf(name, sizeof(name), "f%d", i);
		str function = str_copy(&of_row, (str){ name, (size_t)len });
		uint32_t index = sample_set_frame(&row, &(struct frame){ .function = function });

		sample_set_add(&row, (struct sample){ .stack = sample_set_stack(&row, &index, 1),
						      .value = 1 });
	}
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 20, &arena);
	assert_false(merge_add_row(&merge, &row, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_true(str_starts_with(str_from(err.msg),
				    STR("the response needs more than 1048576 bytes of memory")));
}

static void parallel_merges_share_their_memory_limit(void **state)
{
	AUTO_ARENA arena = { 0 }, others = { 0 }, of_row = { 0 };
	struct merge merges[2];
	struct memory memory = { 0 };
	struct sample_set row;

	(void)state;
	make_row(&row, &of_row, "a", 1);
	for (size_t i = 0; i < 2; i++) {
		merge_init(&merges[i], STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26,
			   i ? &others : &arena);
		merge_share_memory(&merges[i], &memory);
		assert_true(merge_add_row(&merges[i], &row, &err));
	}
	assert_int_equal(memory.used, arena.size + others.size);
	assert_true(merge_add_row(&merges[0], &merges[1].set, &err));
	assert_collapsed(&merges[0], "main 2\nmain;work 2\n");
	merges[1].memory_max = memory.used - 1; /* more than each of them uses */
	assert_false(merge_add_row(&merges[1], &row, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void a_sum_beyond_64_bits_is_an_error(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set row;
	struct merge merge;

	(void)state;
	make_row(&row, &arena, "a", INT64_MAX);
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	assert_true(merge_add_row(&merge, &row, &err));
	assert_false(merge_add_row(&merge, &row, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

RUN_TESTS(TEST(sums_equal_stacks_of_all_rows),
	  TEST(series_of_different_periods_have_none_in_common),
	  TEST(groups_by_labels_of_series_and_samples), TEST(an_empty_merge_has_no_lines),
	  TEST(ends_at_its_memory_limit), TEST(parallel_merges_share_their_memory_limit),
	  TEST(a_sum_beyond_64_bits_is_an_error))
