// SPDX-License-Identifier: Apache-2.0
/*
 * Samples are cut into rows that a reader takes; what does not fit into one comes in halves.
 */
#include "profile/limits.h"
#include "store/chunk_rows.h"
#include "store/limits.h"
#include "test.h"

/* What the rows that were put say, all together. */
struct seen {
	size_t rows, samples;
	uint64_t first_ms, last_ms;
};

static void see(void *self, const struct chunk_row *row)
{
	struct seen *seen = self;

	assert_true(row->payload.len && row->directory.len);
	assert_true(row->first_ms <= row->last_ms);
	seen->first_ms = seen->rows ? seen->first_ms : row->first_ms;
	assert_true(row->first_ms >= seen->last_ms); /* in their order */
	seen->last_ms = row->last_ms;
	seen->samples += row->set->samples.len;
	seen->rows++;
}

/* One deep stack, count times: more frames than a row may have come to, if count is large. */
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

static void no_samples_are_no_rows_and_few_are_one(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_ARENA scratch = { 0 };
	struct sample_set set;
	struct seen seen = { 0 };
	struct chunk_row_sink sink = { see, &seen };

	(void)state;
	sample_set_init(&set, &arena);
	chunk_rows_make(&set, 1, &scratch, &sink);
	assert_int_equal(seen.rows, 0);
	fill(&set, 10);
	chunk_rows_make(&set, 1, &scratch, &sink);
	assert_int_equal(seen.rows, 1);
	assert_int_equal(seen.samples, 10);
	assert_true(seen.first_ms == 1000 && seen.last_ms == 1009);
}

static void what_does_not_fit_comes_in_halves_and_whole(void **state)
{
	enum { COUNT = ROW_FRAMES_MAX / STACK_DEPTH_MAX + 100 };
	AUTO_ARENA arena = { 0 };
	AUTO_ARENA scratch = { 0 };
	struct sample_set set;
	struct seen seen = { 0 };
	struct chunk_row_sink sink = { see, &seen };

	(void)state;
	sample_set_init(&set, &arena);
	fill(&set, COUNT);
	chunk_rows_make(&set, 1, &scratch, &sink);
	assert_true(seen.rows >= 2 && seen.rows <= 8);
	assert_int_equal(seen.samples, COUNT);
	assert_true(seen.first_ms == 1000 && seen.last_ms == 1000 + COUNT - 1);
}

RUN_TESTS(TEST(no_samples_are_no_rows_and_few_are_one),
	  TEST(what_does_not_fit_comes_in_halves_and_whole))
