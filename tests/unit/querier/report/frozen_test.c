// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/report/collapsed_internal.h"
#include "querier/report/flame_report.h"
#include "querier/report/frozen.h"
#include "querier/report/report.h"
#include "support/random_set.h"
#include "support/test.h"
#include "wire/symbolize.h"

static const struct group_by by_pid = { .names = { { "pid", 3 } }, .len = 1 };
static struct err err;

/* Fill a merge with random stacks and reasons. */
static void fill(struct merge *merge, struct arena *arena, uint64_t seed)
{
	struct sample_set set;

	sample_set_init(&set, arena);
	random_set_fill(&set, &(struct random_options){ .seed = seed,
							.samples = 300,
							.series = 3,
							.stacks = 60,
							.frames = 50,
							.label_sets = 4,
							.first_ms = 1000,
							.span_ms = 5000 });
	for (size_t i = 0; i < set.samples.len; i++) /* so that sums do not overflow */
		set.samples.items[i].value %= 1 << 20;
	merge_init(merge, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 28, arena);
	assert_true(merge_add_row(merge, &set, &err));

	uint8_t *reasons = arena_array(arena, uint8_t, merge->set.frames.len);

	for (size_t i = 0; i < merge->set.frames.len; i++)
		if (merge->set.frames.items[i].function.len == 0)
			reasons[i] = (uint8_t)(i % NAME_REASON_COUNT);
	merge->reasons = reasons;
}

static str report_of(const struct report *report, struct merge *merge, struct arena *arena)
{
	static const struct query_stats stats;
	const struct report_input input = { .merge = merge,
					    .type = STR(PROFILE_TYPE_CPU),
					    .columns = REPORT_COLUMNS_DEFAULT,
					    .window = { 1000, 6000 },
					    .stats = &stats };
	str body;

	assert_true(report->write(&input, arena, &body, &err));
	return str_copy(arena, body);
}

/* Statistics contain times; the text before them is the report. */
static str without_stats(str body)
{
	size_t at = str_find(body, STR("\"stats\""));

	return (str){ body.ptr, at < body.len ? at : body.len };
}

static void a_frozen_result_gives_the_same_text_reports(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		AUTO_ARENA arena = { 0 };
		struct merge merge, decoded;
		struct frozen frozen;

		fill(&merge, &arena, seed);
		assert_true(frozen_make(&merge, 1 << 20, &arena, &frozen, &err));
		merge_init(&decoded, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 28, &arena);
		assert_true(frozen_read(&frozen, &decoded, &err));
		assert_int_equal(decoded.set.samples.len, merge.set.samples.len);
		for (size_t i = 0; i < REPORT_COUNT; i++) {
			if (reports[i].by_address)
				continue;

			str was = without_stats(report_of(&reports[i], &merge, &arena));
			str is = without_stats(report_of(&reports[i], &decoded, &arena));

			assert_string_equal(str_z(&arena, is), str_z(&arena, was));
		}
		assert_true(str_eq(sample_set_text(&decoded.set, &arena),
				   sample_set_text(&merge.set, &arena)));
	}
}

enum { LARGE = 60000, NAME = 200 }; /* 12 MB of names */

/* LARGE functions with long names, each below one of seven addresses. */
static void fill_large(struct merge *merge, struct arena *arena)
{
	struct sample_set set;

	sample_set_init(&set, arena);
	for (uint32_t i = 0; i < LARGE; i++) {
		char *name = arena_array(arena, char, NAME);
		uint32_t frames[2], state = i;

		for (size_t at = 0; at < NAME; at++)
			name[at] =
				(char)('a' + ((state = state * 1664525 + 1013904223) >> 24) % 26);
		frames[0] = sample_set_frame(&set, &(struct frame){ .type = STR("native"),
								    .path = STR("/bin/large"),
								    .address = i,
								    .function = { name, NAME } });
		frames[1] = sample_set_frame(&set, &(struct frame){ .type = STR("native"),
								    .path = STR("/bin/large"),
								    .address = LARGE + i % 7 });
		sample_set_add(&set, (struct sample){ .series = sample_set_series(
							      &set, STR(PROFILE_TYPE_CPU),
							      (struct labels){ 0 }, 0),
						      .stack = sample_set_stack(&set, frames, 2),
						      .value = i + 1,
						      .time_ms = 1000 });
	}
	merge_init(merge, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 30, arena);
	assert_true(merge_add_row(merge, &set, &err));

	uint8_t *reasons = arena_array(arena, uint8_t, merge->set.frames.len);

	for (size_t i = 0; i < merge->set.frames.len; i++)
		if (merge->set.frames.items[i].function.len == 0)
			reasons[i] = (uint8_t)(1 + i % (NAME_REASON_COUNT - 1));
	merge->reasons = reasons;
}

static void a_result_beyond_one_row_is_stored_in_several(void **state)
{
	AUTO_ARENA arena = { 0 };
	const struct report *table = NULL;
	struct merge merge, decoded;
	struct frozen frozen, bad;

	(void)state;
	fill_large(&merge, &arena);
	assert_true(frozen_make(&merge, 1 << 26, &arena, &frozen, &err));
	assert_int_equal(frozen.payload.ptr[0], 0); /* the mark of several rows */
	merge_init(&decoded, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 30, &arena);
	assert_true(frozen_read(&frozen, &decoded, &err));
	assert_int_equal(decoded.set.samples.len, LARGE);
	assert_true(report_find(STR("table"), &table, &err));

	str was = without_stats(report_of(table, &merge, &arena));

	assert_true(str_eq(without_stats(report_of(table, &decoded, &arena)), was));

	/* The limits of size and memory hold for encoding and for decoding. */
	assert_false(frozen_make(&merge, 1 << 20, &arena, &bad, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	merge_init(&decoded, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 20, &arena);
	assert_false(frozen_read(&frozen, &decoded, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	bad = frozen;
	bad.payload.len -= 5;
	merge_init(&decoded, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 30, &arena);
	assert_false(frozen_read(&bad, &decoded, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

static void an_empty_result_can_be_frozen(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge merge, decoded;
	struct frozen frozen;

	(void)state;
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 28, &arena);
	assert_true(frozen_make(&merge, 1 << 20, &arena, &frozen, &err));
	merge_init(&decoded, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 28, &arena);
	assert_true(frozen_read(&frozen, &decoded, &err));
	for (size_t i = 0; i < REPORT_COUNT; i++)
		(void)report_of(&reports[i], &decoded, &arena);
}

static void a_result_beyond_the_limit_is_rejected(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge merge;
	struct frozen frozen;

	(void)state;
	fill(&merge, &arena, 1);
	assert_false(frozen_make(&merge, 1000, &arena, &frozen, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_non_null(strstr(err.msg, "--share-max-bytes"));
}

static void corrupt_bytes_are_rejected(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge merge, decoded;
	struct frozen frozen, bad;

	(void)state;
	fill(&merge, &arena, 1);
	assert_true(frozen_make(&merge, 1 << 20, &arena, &frozen, &err));
	bad = frozen;
	bad.reasons.len--;
	merge_init(&decoded, STR(PROFILE_TYPE_CPU), &by_pid, 1 << 28, &arena);
	assert_false(frozen_read(&bad, &decoded, &err));
	assert_int_equal(err.code, ERR_INVALID);
	bad = frozen;
	bad.reasons = str_copy(&arena, frozen.reasons);
	((char *)(uintptr_t)bad.reasons.ptr)[0] = NAME_REASON_COUNT;
	assert_false(frozen_read(&bad, &decoded, &err));
	bad = frozen;
	bad.payload.len--;
	assert_false(frozen_read(&bad, &decoded, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

RUN_TESTS(TEST(a_frozen_result_gives_the_same_text_reports),
	  TEST(a_result_beyond_one_row_is_stored_in_several), TEST(an_empty_result_can_be_frozen),
	  TEST(a_result_beyond_the_limit_is_rejected), TEST(corrupt_bytes_are_rejected))
