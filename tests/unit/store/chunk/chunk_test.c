// SPDX-License-Identifier: Apache-2.0
#include "profile/limits.h"
#include "store/chunk/chunk_directory.h"
#include "store/chunk/chunk_encode.h"
#include "store/chunk/chunk_format_internal.h"
#include "store/limits.h"
#include "support/chunk_set.h"
#include "support/test.h"

#include <stdio.h>

static void reads_back_what_was_written(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		AUTO_ARENA arena = { 0 };
		struct sample_set set, got;
		struct random_options options = busy;
		uint64_t samples = 0;
		struct err err;

		options.seed = seed;
		options.samples = seed * seed;
		options.frames = seed % 9 * 30;
		options.series = 1 + seed % 30;
		sample_set_init(&set, &arena);
		sample_set_init(&got, &arena);
		random_set_fill(&set, &options);

		str row = chunk_encode(&set, (int)(seed % 4), &arena, NULL);
		struct chunk_filter filter = all_of(&set);

		assert_true(chunk_decode(row, &filter, &got, &samples, &err));
		assert_int_equal(samples, set.samples.len);
		assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));
	}
}

static void a_row_read_and_written_again_does_not_grow(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &busy);

	str row = chunk_encode(&set, 1, &arena, NULL);
	struct chunk_filter filter = all_of(&set);

	assert_true(chunk_decode(row, &filter, &got, &samples, &err));

	str again = chunk_encode(&got, 1, &arena, NULL);

	assert_true(again.len <= row.len + row.len / 20);
}

static void an_empty_set_is_a_row(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	uint64_t samples = 1;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));
	assert_int_equal(samples, 0);
	assert_int_equal(got.samples.len, 0);
}

static void without_stacks_samples_are_the_same_otherwise(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &busy);
	filter.without = CHUNK_NO_STACKS;

	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));

	for (size_t i = 0; i < set.samples.len; i++)
		set.samples.items[i].stack = 0;
	assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));
	assert_int_equal(got.frames.len, 0);
}

static void without_labels_samples_are_the_same_otherwise(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &busy);
	filter.without = CHUNK_NO_LABELS;

	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));

	for (size_t i = 0; i < set.samples.len; i++)
		set.samples.items[i].labels = 0;
	assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));
}

static void leaves_out_samples_that_the_filter_excludes(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got, one;
	uint64_t samples;
	struct err err;
	size_t expected = 0;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	sample_set_init(&one, &arena);
	random_set_fill(&set, &busy);
	*vec_push(&arena, &one.series) = set.series.items[3];

	struct chunk_filter filter = { labels_in, &one, busy.first_ms + 100, busy.first_ms + 5000 };

	for (size_t i = 0; i < set.samples.len; i++)
		expected += set.samples.items[i].series == 3 &&
			    set.samples.items[i].time_ms >= filter.start_ms &&
			    set.samples.items[i].time_ms < filter.end_ms;
	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));
	assert_int_equal(got.samples.len, expected);
	assert_true(expected > 10);
	assert_int_equal(samples, set.samples.len);
}

/* Samples with STACK_DEPTH_MAX frames; each has a leaf of its own, of this name. */
static void add_deep(struct sample_set *set, uint64_t count, str name)
{
	uint32_t stack[STACK_DEPTH_MAX];
	uint32_t series = sample_set_series(set, STR("t"), (struct labels){ 0 }, 1);
	uint32_t labels = sample_set_labels(set, (struct labels){ 0 });
	struct frame frame = { .type = STR("native") };

	for (; frame.address < STACK_DEPTH_MAX - 1; frame.address++)
		stack[frame.address] = sample_set_frame(set, &frame);
	frame.function = name;
	for (uint64_t i = 0; i < count; i++, frame.address++) {
		stack[STACK_DEPTH_MAX - 1] = sample_set_frame(set, &frame);

		uint32_t deep = sample_set_stack(set, stack, STACK_DEPTH_MAX);

		sample_set_add(set, (struct sample){ series, deep, labels, 1, 1 });
	}
}

static void a_set_too_large_for_a_row_is_rejected(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, named, got;
	struct chunk_filter filter = all_of(&set);
	str name = { arena_array(&arena, char, ROW_RAW_MAX), ROW_RAW_MAX };
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	add_deep(&set, ROW_FRAMES_MAX / STACK_DEPTH_MAX + 1, STR("f"));
	assert_int_equal(chunk_encode(&set, 1, &arena, NULL).len, 0);
	set.samples.len--;
	sample_set_init(&got, &arena);
	assert_true(
		chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got, &samples, &err));
	assert_int_equal(got.samples.len, set.samples.len);

	/* A single sample can always be written. */
	sample_set_init(&named, &arena);
	add_deep(&named, 2, name);
	assert_int_equal(chunk_encode(&named, 1, &arena, NULL).len, 0);
	named.samples.len--;
	filter = all_of(&named);
	sample_set_init(&got, &arena);
	assert_true(
		chunk_decode(chunk_encode(&named, 1, &arena, NULL), &filter, &got, &samples, &err));
	assert_int_equal(samples, 1);
}

static void the_directory_matches_the_row(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct chunk_directory directory, got;
	struct chunk_slice slices[] = { { 100, 3 }, { 200, 0 } };
	uint64_t total = 0;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	random_set_fill(&set, &busy);
	directory = chunk_directory_of(&set, &arena);
	directory.layout = (struct chunk_layout){ 77, slices, ARRAY_LEN(slices) };
	slices[1].series_count = directory.series_count - slices[0].series_count;

	str bytes = chunk_directory_write(&directory, &arena);

	assert_true(chunk_directory_read(bytes, &got, &arena, &err));
	assert_int_equal(got.layout.head_len, 77);
	assert_int_equal(got.layout.slice_count, 2);
	assert_memory_equal(got.layout.slices, slices, sizeof(slices));
	assert_int_equal(got.series_count, directory.series_count);
	for (size_t i = 0; i < got.series_count; i++) {
		total += got.series[i].count;
		assert_true(got.series[i].last_ms < busy.first_ms + busy.span_ms);
		assert_int_equal(got.series[i].sum, directory.series[i].sum);
	}
	assert_int_equal(total, busy.samples);
	assert_int_equal(got.name_count, 2);
	assert_true(str_eq(got.names[0], STR("pid")));
	for (size_t len = 0; len < bytes.len; len++)
		assert_false(chunk_directory_read((str){ bytes.ptr, len }, &got, &arena, &err));

	/* A series in no slice, or one series too many. */
	for (size_t wrong = 2; wrong <= 4; wrong += 2) {
		slices[0].series_count = wrong;
		bytes = chunk_directory_write(&directory, &arena);
		assert_false(chunk_directory_read(bytes, &got, &arena, &err));
	}
}

static void reads_back_the_smallest_and_the_largest_values(void **state)
{
	static const int64_t values[] = { INT64_MIN, INT64_MAX, 0, -7, 14, 1, 52631578 * 7LL };

	(void)state;
	for (size_t first = 0; first < ARRAY_LEN(values); first++) {
		AUTO_ARENA arena = { 0 };
		struct sample_set set, got;
		struct chunk_filter filter = all_of(&set);
		uint64_t samples;
		struct err err;

		sample_set_init(&set, &arena);
		sample_set_init(&got, &arena);

		uint32_t series =
			sample_set_series(&set, STR("t"), (struct labels){ 0 }, (uint64_t)first);

		for (size_t i = first; i < ARRAY_LEN(values); i++)
			for (size_t j = i; j < ARRAY_LEN(values); j++)
				sample_set_add(&set, (struct sample){ .series = series,
								      .value = values[j],
								      .time_ms = i });
		assert_true(chunk_decode(chunk_encode(&set, 1, &arena, NULL), &filter, &got,
					 &samples, &err));
		assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));
	}
}

static str file_read(const char *path, struct arena *arena)
{
	FILE *file = fopen(path, "rb");
	char *bytes = arena_array(arena, char, 1 << 16);

	assert_non_null(file);

	size_t len = fread(bytes, 1, 1 << 16, file);

	fclose(file);
	return (str){ bytes, len };
}

/* Written from the same random set by version 1. */
static void reads_a_row_of_version_1(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	struct chunk_directory directory, expected;
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &(struct random_options){ .seed = 11,
							.samples = 400,
							.series = 7,
							.stacks = 60,
							.frames = 50,
							.label_sets = 5,
							.first_ms = UINT64_C(1790000000000),
							.span_ms = 10000 });

	str row = file_read(CORPUS "/../../recorded/chunk/version_1.row", &arena);

	assert_int_equal(row.ptr[0], CHUNK_VERSION_WHOLE);
	assert_true(chunk_decode(row, &filter, &got, &samples, &err));
	assert_int_equal(samples, 400);
	assert_true(str_eq(sample_set_text(&set, &arena), sample_set_text(&got, &arena)));

	str bytes = file_read(CORPUS "/../../recorded/chunk/version_1.directory", &arena);

	expected = chunk_directory_of(&set, &arena);
	assert_true(chunk_directory_read(bytes, &directory, &arena, &err));
	assert_int_equal(directory.series_count, expected.series_count);
	assert_memory_equal(directory.series, expected.series,
			    expected.series_count * sizeof(*expected.series));
	assert_int_equal(directory.layout.slice_count, 0);
}

RUN_TESTS(TEST(reads_back_what_was_written), TEST(a_row_read_and_written_again_does_not_grow),
	  TEST(an_empty_set_is_a_row), TEST(without_stacks_samples_are_the_same_otherwise),
	  TEST(without_labels_samples_are_the_same_otherwise),
	  TEST(leaves_out_samples_that_the_filter_excludes),
	  TEST(reads_back_the_smallest_and_the_largest_values), TEST(reads_a_row_of_version_1),
	  TEST(a_set_too_large_for_a_row_is_rejected), TEST(the_directory_matches_the_row))
