// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_decode.h"
#include "store/chunk/chunk_encode.h"
#include "store/chunk/chunk_rows.h"
#include "store/compact/compact_merge_internal.h"
#include "support/random_set.h"
#include "support/test.h"

#include <stdio.h>

#define MS_PER_HOUR UINT64_C(3600000)
#define HOUR_MS     (UINT64_C(1790000000000) / MS_PER_HOUR * MS_PER_HOUR)

enum { ROWS = 20, LEVEL = 3 };

/* Labels by id, like the table `series`. */
static bool labels_in(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct sample_set *set = self;

	for (size_t i = 0; i < set->series.len; i++)
		if (set->series.items[i].id == id && str_eq(set->series.items[i].type, type)) {
			*ret_labels = set->series.items[i].labels;
			return true;
		}
	return false;
}

/* A raw row: of one seed, `span_ms` long. */
static struct compact_row random_row(uint64_t seed, uint64_t span_ms, struct sample_set *all)
{
	struct sample_set set;
	struct compact_row row = { .first_ms = UINT64_MAX };
	struct random_options options = {
		.seed = seed,
		.samples = 400,
		.series = 9,
		.stacks = 60,
		.frames = 40,
		.label_sets = 7,
		.first_ms = HOUR_MS + seed * 10000,
		.span_ms = span_ms,
	};

	sample_set_init(&set, all->arena);
	random_set_fill(&set, &options);
	for (size_t i = 0; i < set.samples.len; i++) {
		uint64_t time_ms = set.samples.items[i].time_ms;

		row.first_ms = time_ms < row.first_ms ? time_ms : row.first_ms;
		row.last_ms = time_ms > row.last_ms ? time_ms : row.last_ms;
	}
	row.samples = set.samples.len;
	row.payload = chunk_encode(&set, 1, all->arena, NULL);
	sample_set_merge(all, &set, NULL);
	return row;
}

/* Reads a chunk back and checks that it belongs to one hour. */
struct reading {
	struct sample_set *all, *got;
	uint64_t start_ms;
	size_t rows;
};

static void read_row(void *self, const struct chunk_row *row)
{
	struct reading *reading = self;
	struct chunk_filter filter = { labels_in, reading->all, 0, UINT64_MAX };
	uint64_t samples = 0;
	struct err err;

	assert_true(row->first_ms >= reading->start_ms);
	assert_true(row->last_ms < reading->start_ms + MS_PER_HOUR);
	assert_true(chunk_decode(row->payload, &filter, reading->got, &samples, &err));
	reading->rows++;
}

static size_t merge_and_read(const struct compact_row *rows, size_t count, struct sample_set *all,
			     struct sample_set *got)
{
	AUTO_ARENA scratch = { 0 };
	struct compact_merge merge = { .arena = all->arena };
	struct reading reading = { .all = all, .got = got };
	struct err err;

	for (size_t i = 0; i < count; i++)
		assert_true(compact_merge_add(&merge, &rows[i], &err));
	compact_merge_end(&merge);
	assert_int_equal(merge.samples, all->samples.len);
	for (size_t i = 0; i < merge.hours.len; i++) {
		reading.start_ms = merge.hours.items[i].start_ms;
		chunk_rows_make(&merge.hours.items[i].set, LEVEL, &scratch,
				&(struct chunk_row_sink){ read_row, &reading });
	}
	return reading.rows;
}

static void merged_samples_are_the_original_samples(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set all, got;
	struct compact_row rows[ROWS];

	(void)state;
	sample_set_init(&all, &arena);
	sample_set_init(&got, &arena);
	for (uint64_t i = 0; i < ROWS; i++)
		rows[i] = random_row(i, 10000, &all);

	assert_int_equal(merge_and_read(rows, ROWS, &all, &got), 1);
	assert_true(str_eq(sample_set_text(&all, &arena), sample_set_text(&got, &arena)));
}

static void a_row_of_many_hours_becomes_a_chunk_of_each(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set all, got;
	struct compact_row rows[ROWS];

	(void)state;
	sample_set_init(&all, &arena);
	sample_set_init(&got, &arena);
	for (uint64_t i = 0; i < ROWS; i++)
		rows[i] = random_row(i, i % 3 ? 10000 : 5 * MS_PER_HOUR - 200000, &all);

	assert_int_equal(merge_and_read(rows, ROWS, &all, &got), 5);
	assert_true(str_eq(sample_set_text(&all, &arena), sample_set_text(&got, &arena)));
}

static void a_corrupt_row_is_reported(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set all;
	struct compact_merge merge = { .arena = &arena };
	struct err err;

	(void)state;
	sample_set_init(&all, &arena);

	struct compact_row row = random_row(1, 10000, &all);
	char *bytes = (char *)(uintptr_t)row.payload.ptr;

	bytes[row.payload.len / 2] ^= 1;
	assert_false(compact_merge_add(&merge, &row, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

/* With wrong columns samples would be lost: the row is not merged. */
static void a_row_whose_samples_contradict_its_columns_is_reported(void **state)
{
	static const struct {
		int64_t first, last, samples;
	} lies[] = { { 1, 0, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
	AUTO_ARENA arena = { 0 };
	struct sample_set all;

	(void)state;
	sample_set_init(&all, &arena);

	const struct compact_row row = random_row(1, 10000, &all);

	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		struct compact_merge merge = { .arena = &arena };
		struct compact_row lie = row;
		struct err err;

		lie.first_ms += (uint64_t)lies[i].first;
		lie.last_ms += (uint64_t)lies[i].last;
		lie.samples += (uint64_t)lies[i].samples;
		assert_false(compact_merge_add(&merge, &lie, &err));
		assert_int_equal(err.code, ERR_INVALID);
	}
}

RUN_TESTS(TEST(merged_samples_are_the_original_samples),
	  TEST(a_row_of_many_hours_becomes_a_chunk_of_each), TEST(a_corrupt_row_is_reported),
	  TEST(a_row_whose_samples_contradict_its_columns_is_reported))
