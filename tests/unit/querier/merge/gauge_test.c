// SPDX-License-Identifier: Apache-2.0
#include "querier/merge/merge.h"
#include "querier/merge/range_sums.h"
#include "querier/report/collapsed_internal.h"
#include "support/test.h"

#define HEAP STR("memory:inuse_space:bytes:space:bytes")

enum { MINUTE_MS = 60000, WINDOW_MS = 60 * MINUTE_MS };

static const struct group_by ungrouped, by_pod = { { { "pod", 3 } }, 1 };
static const struct window hour = { 0, WINDOW_MS };
static struct err err;

/* A sample of a heap profile: live bytes of one function. */
struct heap_sample {
	const char *pod, *pid;
	uint64_t minute;
	const char *function;
	int64_t value;
};

static struct labels label(struct arena *arena, const char *name, const char *value)
{
	struct label *item = arena_array(arena, struct label, 1);

	*item = (struct label){ str_from(name), str_from(value) };
	return (struct labels){ item, 1 };
}

static void make_row(struct sample_set *row, struct arena *arena, const struct heap_sample *samples,
		     size_t count)
{
	sample_set_init(row, arena);
	for (size_t i = 0; i < count; i++) {
		const struct frame frame = { .function = str_from(samples[i].function) };
		uint32_t index = sample_set_frame(row, &frame);

		sample_set_add(
			row,
			(struct sample){ .series = sample_set_series(
						 row, HEAP, label(arena, "pod", samples[i].pod), 0),
					 .stack = sample_set_stack(row, &index, 1),
					 .labels = sample_set_labels(
						 row, label(arena, "pid", samples[i].pid)),
					 .value = samples[i].value,
					 .time_ms = samples[i].minute * MINUTE_MS });
	}
}

static void begin(struct merge *merge, const struct group_by *by, struct arena *arena)
{
	merge_init(merge, HEAP, by, 1 << 26, arena);
	merge_set_gauge(merge);
}

static void observe_and_add(struct merge *merge, const struct sample_set *row)
{
	assert_true(merge_observe_row(merge, row, &err));
	assert_true(merge_add_row(merge, row, &err));
}

static void assert_collapsed(struct merge *merge, const char *expected)
{
	AUTO_ARENA arena = { 0 };
	str text;

	assert_true(merge_average(merge, &hour, &err));
	assert_true(collapsed_write(merge, &arena, &text, &err));
	assert_string_equal(str_z(&arena, text), expected);
}

static void assert_mean(const struct heap_sample *samples, size_t count, const char *expected)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set row;
	struct merge merge;

	make_row(&row, &arena, samples, count);
	begin(&merge, &ungrouped, &arena);
	observe_and_add(&merge, &row);
	assert_collapsed(&merge, expected);
}

#define ASSERT_MEAN(samples, expected) assert_mean(samples, ARRAY_LEN(samples), expected)

static void a_process_is_the_mean_of_its_profiles(void **state)
{
	static const struct heap_sample samples[] = { { "a", "1", 0, "f", 10 },
						      { "a", "1", 20, "f", 20 },
						      { "a", "1", 59, "f", 33 } };

	(void)state;
	ASSERT_MEAN(samples, "f 21\n");
}

static void processes_add_up(void **state)
{
	static const struct heap_sample samples[] = { { "a", "1", 0, "f", 100 },
						      { "a", "1", 59, "f", 100 },
						      { "b", "1", 0, "f", 30 },
						      { "b", "1", 59, "f", 50 } };

	(void)state;
	ASSERT_MEAN(samples, "f 140\n");
}

static void a_process_is_not_counted_beside_its_successor(void **state)
{
	static const struct heap_sample samples[] = { { "a", "1", 0, "f", 100 },
						      { "a", "1", 29, "f", 100 },
						      { "b", "1", 30, "f", 100 },
						      { "b", "1", 59, "f", 100 } };

	(void)state;
	ASSERT_MEAN(samples, "f 100\n");
}

static void the_mean_of_one_profile_is_its_value(void **state)
{
	static const struct heap_sample samples[] = { { "a", "1", 17, "f", 100 },
						      { "a", "1", 17, "g", 7 } };

	(void)state;
	ASSERT_MEAN(samples, "f 100\ng 7\n");
}

static void a_stack_missing_from_a_profile_counts_as_0(void **state)
{
	static const struct heap_sample samples[] = { { "a", "1", 0, "f", 100 },
						      { "a", "1", 0, "g", 10 },
						      { "a", "1", 1, "f", 100 } };

	(void)state;
	ASSERT_MEAN(samples, "f 100\ng 5\n");
}

static void processes_of_one_series_are_distinguished_by_pid(void **state)
{
	static const struct heap_sample samples[] = { { "a", "1", 0, "f", 100 },
						      { "a", "2", 0, "f", 40 },
						      { "a", "1", 1, "f", 100 },
						      { "a", "2", 1, "f", 40 } };

	(void)state;
	ASSERT_MEAN(samples, "f 140\n");
}

static void parts_of_a_unit_add_up_before_they_are_rounded(void **state)
{
	static const struct heap_sample thirds[] = {
		{ "a", "1", 0, "f", 1 }, { "a", "1", 1, "g", 1 }, { "a", "1", 2, "g", 1 },
		{ "b", "1", 0, "f", 1 }, { "b", "1", 1, "g", 1 }, { "b", "1", 2, "g", 1 },
		{ "c", "1", 0, "f", 1 }, { "c", "1", 1, "g", 1 }, { "c", "1", 2, "g", 1 },
	};
	static const struct heap_sample halves[] = { { "a", "1", 0, "f", 1 },
						     { "a", "1", 1, "g", -1 } };

	(void)state;
	ASSERT_MEAN(thirds, "f 1\ng 2\n");
	ASSERT_MEAN(halves, "f 1\ng 0\n"); /* halves are rounded up, of negative values as well */
}

static void profiles_without_a_matching_sample_count(void **state)
{
	static const struct heap_sample all[] = { { "a", "1", 0, "f", 100 },
						  { "a", "1", 1, "g", 100 } };
	AUTO_ARENA arena = { 0 };
	struct sample_set row, matching;
	struct merge merge;

	(void)state;
	make_row(&row, &arena, all, 2);
	make_row(&matching, &arena, all, 1);
	begin(&merge, &ungrouped, &arena);
	assert_true(merge_observe_row(&merge, &row, &err));
	assert_true(merge_add_row(&merge, &matching, &err));
	assert_collapsed(&merge, "f 50\n");
}

static void a_mean_beyond_64_bits_is_an_error(void **state)
{
	static const struct heap_sample samples[] = { { "a", "1", 0, "f", INT64_MAX },
						      { "b", "1", 0, "f", INT64_MAX } };
	AUTO_ARENA arena = { 0 };
	struct sample_set row;
	struct merge merge;

	(void)state;
	make_row(&row, &arena, samples, ARRAY_LEN(samples));
	begin(&merge, &ungrouped, &arena);
	observe_and_add(&merge, &row);
	assert_false(merge_average(&merge, &hour, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void parallel_merges_are_averaged_as_one(void **state)
{
	static const struct heap_sample samples[] = {
		{ "a", "1", 0, "f", 10 }, { "b", "1", 0, "f", 1 },   { "a", "1", 30, "f", 20 },
		{ "b", "2", 9, "g", 4 },  { "a", "1", 59, "g", 60 }, { "b", "1", 0, "g", 5 }
	};
	AUTO_ARENA arena = { 0 }, other = { 0 };
	struct sample_set rows[2];
	struct merge merges[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		make_row(&rows[i], &arena, &samples[i * 3], 3);
		begin(&merges[i], &by_pod, i ? &other : &arena);
		observe_and_add(&merges[i], &rows[i]);
	}
	assert_true(merge_combine(&merges[0], &merges[1], &err));
	arena_free(&other);
	/* pid 1 of b exists for a minute of 60, and so does pid 2. */
	assert_collapsed(&merges[0], "pod=a;f 10\npod=a;g 20\npod=b;f 0\npod=b;g 0\n");
}

static void assert_points(struct range_sums *range, const struct range_point *expected,
			  size_t count)
{
	struct range_result result;
	size_t at = 0;

	assert_true(range_sums_finish(range, 0, &result, &err));
	for (size_t i = 0; i < result.count; i++)
		for (size_t j = 0; j < result.lines[i].count; j++, at++) {
			assert_true(at < count);
			assert_int_equal(i, expected[at].group);
			assert_int_equal(result.lines[i].points[j].step, expected[at].step);
			assert_int_equal(result.lines[i].points[j].sum, expected[at].sum);
		}
	assert_int_equal(at, count);
}

static void a_step_is_a_mean_of_its_own(void **state)
{
	static const struct heap_sample samples[] = {
		{ "a", "1", 0, "f", 10 },  { "a", "1", 0, "g", 1 },   { "a", "1", 9, "f", 20 },
		{ "a", "1", 10, "f", 40 }, { "b", "1", 11, "f", 60 }, { "b", "1", 12, "f", 70 }
	};
	/* The second step: a exists for one of three minutes, b for two. */
	static const struct range_point by_series[] = { { 0, 0, 16 }, { 0, 1, 13 }, { 1, 1, 43 } };
	static const struct range_point all[] = { { 0, 0, 16 }, { 0, 1, 57 } };
	AUTO_ARENA arena = { 0 };
	struct sample_set row;

	(void)state;
	make_row(&row, &arena, samples, ARRAY_LEN(samples));
	for (size_t i = 0; i < 2; i++) {
		const struct range_options options = { i ? &ungrouped : NULL, 0, 10 * MINUTE_MS,
						       1 << 26 };
		struct range_sums ranges[2];

		for (size_t j = 0; j < 2; j++) {
			range_sums_init(&ranges[j], &options, &arena);
			range_sums_set_gauge(&ranges[j]);
		}
		assert_true(range_sums_observe_row(&ranges[1], &row, &err));
		assert_true(range_sums_add_row(&ranges[1], &row, &err));
		assert_true(range_sums_combine(&ranges[0], &ranges[1], &err));
		assert_points(&ranges[0], i ? all : by_series,
			      i ? ARRAY_LEN(all) : ARRAY_LEN(by_series));
	}
}

RUN_TESTS(TEST(a_process_is_the_mean_of_its_profiles), TEST(processes_add_up),
	  TEST(a_process_is_not_counted_beside_its_successor),
	  TEST(the_mean_of_one_profile_is_its_value),
	  TEST(a_stack_missing_from_a_profile_counts_as_0),
	  TEST(processes_of_one_series_are_distinguished_by_pid),
	  TEST(parts_of_a_unit_add_up_before_they_are_rounded),
	  TEST(profiles_without_a_matching_sample_count), TEST(a_mean_beyond_64_bits_is_an_error),
	  TEST(parallel_merges_are_averaged_as_one), TEST(a_step_is_a_mean_of_its_own))
