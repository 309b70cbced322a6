// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_encode.h"
#include "store/chunk/chunk_ranges.h"
#include "support/chunk_set.h"
#include "support/test.h"

/* Enough for several slices. */
static const struct random_options large = {
	.seed = 23,
	.samples = 60000,
	.series = 60,
	.stacks = 4000,
	.frames = 900,
	.label_sets = 50,
	.first_ms = UINT64_C(1790000000000),
	.span_ms = 3600000,
};

/* The samples of a range of series of the directory. */
struct run {
	struct sample_set *set;
	const struct chunk_directory *directory;
	const bool *series; /* by the directory's index */
};

static bool labels_in_run(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct run *run = self;

	for (size_t i = 0; i < run->directory->series_count; i++)
		if (run->directory->series[i].id == id)
			return run->series[i] && labels_in(run->set, id, type, ret_labels);
	return false;
}

/* Concatenates the ranges of a row, as the table returns them. */
static str put_together(str row, const struct chunk_ranges *ranges, struct arena *arena)
{
	struct buf part = { .arena = arena };

	for (size_t i = 0; i < ranges->count; i++)
		buf_str(&part, (str){ row.ptr + ranges->ranges[i].at, ranges->ranges[i].len });
	return buf_bytes(&part);
}

static void a_fragment_of_a_row_has_all_samples_of_its_series(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct chunk_layout layout;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	random_set_fill(&set, &large);

	str row = chunk_encode(&set, 3, &arena, &layout);
	struct chunk_directory directory = chunk_directory_of(&set, &arena);
	bool *wanted = arena_array(&arena, bool, directory.series_count);

	directory.layout = layout;
	assert_true(layout.slice_count > 3);
	for (size_t i = 0; i < directory.series_count; i++) {
		AUTO_ARENA scratch = { 0 };
		struct sample_set from_part, from_row;
		struct run run = { &set, &directory, wanted };
		struct chunk_filter filter = { labels_in_run, &run, 0, UINT64_MAX };
		uint64_t samples, all;

		wanted[i] = wanted[directory.series_count - 1 - i / 2] = true;

		struct chunk_ranges ranges =
			chunk_ranges_choose(&directory, wanted, row.len, &scratch);
		str part = put_together(row, &ranges, &scratch);

		sample_set_init(&from_part, &scratch);
		sample_set_init(&from_row, &scratch);
		assert_true(chunk_decode(row, &filter, &from_row, &all, &err));
		assert_int_equal(all, large.samples);
		filter.slices = ranges.slices;
		assert_true(chunk_decode(part, &filter, &from_part, &samples, &err));
		assert_true(ranges.slices ? samples < all : samples == all);
		assert_true(str_eq(sample_set_text(&from_part, &scratch),
				   sample_set_text(&from_row, &scratch)));
		assert_int_equal(from_part.stacks.len, from_row.stacks.len);
		wanted[i] = wanted[directory.series_count - 1 - i / 2] = false;
	}
}

/* A row with slices missing, twice or in another order must not pass as complete. */
static void rejects_slices_that_were_not_requested(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct chunk_filter filter = all_of(&set);
	struct chunk_layout layout;
	struct buf twice = { .arena = &arena }, turned = { .arena = &arena };
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	sample_set_init(&got, &arena);
	random_set_fill(&set, &large);

	str row = chunk_encode(&set, 1, &arena, &layout);
	str head = { row.ptr, layout.head_len };
	str first = { row.ptr + head.len, layout.slices[0].len };
	str second = { first.ptr + first.len, layout.slices[1].len };

	row.len -= layout.slices[layout.slice_count - 1].len;
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	filter.slices = layout.slice_count - 1;
	assert_true(chunk_decode(row, &filter, &got, &samples, &err));
	filter.slices = 1;
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	filter.slices = 2;
	buf_str(&twice, head);
	buf_str(&twice, first);
	buf_str(&twice, first);
	assert_false(chunk_decode(buf_bytes(&twice), &filter, &got, &samples, &err));
	assert_string_equal(err.msg, "the slices of a row are not in order");
	buf_str(&turned, head);
	buf_str(&turned, second);
	buf_str(&turned, first);
	assert_false(chunk_decode(buf_bytes(&turned), &filter, &got, &samples, &err));
}

RUN_TESTS(TEST(a_fragment_of_a_row_has_all_samples_of_its_series),
	  TEST(rejects_slices_that_were_not_requested))
