// SPDX-License-Identifier: Apache-2.0
/*
 * Samples are split into rows within the limits of a row; samples that do not fit are halved.
 */
#include "profile/limits.h"
#include "store/chunk/chunk_rows.h"
#include "store/limits.h"
#include "support/test.h"

/* Totals of the rows that were written. */
struct row_totals {
	size_t rows, samples;
	uint64_t first_ms, last_ms;
};

static void see(void *self, const struct chunk_row *row)
{
	struct row_totals *totals = self;

	assert_true(row->payload.len && row->directory.len);
	assert_true(row->first_ms <= row->last_ms);
	totals->first_ms = totals->rows ? totals->first_ms : row->first_ms;
	assert_true(row->first_ms >= totals->last_ms); /* in their order */
	totals->last_ms = row->last_ms;
	totals->samples += row->set->samples.len;
	totals->rows++;
}

/* One deep stack, count times: exceeds the frames of a row if count is large. */
static void fill(struct sample_set *set, size_t count)
{
	static uint32_t frames[STACK_DEPTH_MAX];
	uint32_t labels = sample_set_labels(set, (struct labels){ 0 });
	uint32_t series = sample_set_series(set, STR("process_cpu:cpu:nanoseconds:cpu:nanoseconds"),
					    (struct labels){ 0 }, 1);

	for (size_t i = 0; i < count; i++) {
		frames[0] = sample_set_frame(set, &(struct frame){ .address = i });
		sample_set_add(set, (struct sample){
					    .series = series,
					    .labels = labels,
					    .stack = sample_set_stack(set, frames, STACK_DEPTH_MAX),
					    .time_ms = 1000 + i,
					    .value = 1 });
	}
}

static void no_samples_are_no_rows_and_few_samples_are_one_row(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_ARENA scratch = { 0 };
	struct sample_set set;
	struct row_totals totals = { 0 };
	struct chunk_row_sink sink = { see, &totals };

	(void)state;
	sample_set_init(&set, &arena);
	chunk_rows_make(&set, 1, &scratch, &sink);
	assert_int_equal(totals.rows, 0);
	fill(&set, 10);
	chunk_rows_make(&set, 1, &scratch, &sink);
	assert_int_equal(totals.rows, 1);
	assert_int_equal(totals.samples, 10);
	assert_true(totals.first_ms == 1000 && totals.last_ms == 1009);
}

static void samples_that_do_not_fit_are_halved_and_none_is_lost(void **state)
{
	enum { COUNT = ROW_FRAMES_MAX / STACK_DEPTH_MAX + 100 };
	AUTO_ARENA arena = { 0 };
	AUTO_ARENA scratch = { 0 };
	struct sample_set set;
	struct row_totals totals = { 0 };
	struct chunk_row_sink sink = { see, &totals };

	(void)state;
	sample_set_init(&set, &arena);
	fill(&set, COUNT);
	chunk_rows_make(&set, 1, &scratch, &sink);
	assert_true(totals.rows >= 2 && totals.rows <= 8);
	assert_int_equal(totals.samples, COUNT);
	assert_true(totals.first_ms == 1000 && totals.last_ms == 1000 + COUNT - 1);
}

RUN_TESTS(TEST(no_samples_are_no_rows_and_few_samples_are_one_row),
	  TEST(samples_that_do_not_fit_are_halved_and_none_is_lost))
