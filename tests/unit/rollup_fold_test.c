// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/profile_type.h"
#include "random_set.h"
#include "store/chunk.h"
#include "store/rollup_fold.h"
#include "test.h"

#include <stdio.h>

#define HOUR_MS (UINT64_C(1790000000000) / MS_PER_HOUR * MS_PER_HOUR)

enum { ROWS = 9 };

static struct compact_row row_of(const struct sample_set *set, struct arena *arena)
{
	struct compact_row row = { .first_ms = UINT64_MAX, .samples = set->samples.len };

	for (size_t i = 0; i < set->samples.len; i++) {
		uint64_t time_ms = set->samples.items[i].time_ms;

		row.first_ms = time_ms < row.first_ms ? time_ms : row.first_ms;
		row.last_ms = time_ms > row.last_ms ? time_ms : row.last_ms;
	}
	row.payload = chunk_encode(set, 1, arena);
	return row;
}

/* What a set is when times and labels are gone and all else is added up: the slow way. */
static str sums_text(const struct sample_set *set, struct arena *arena)
{
	struct sample_set sums = *set;

	sums.samples.items = arena_array(arena, struct sample, set->samples.len);
	sums.samples.len = 0;
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];
		size_t at = 0;

		while (at < sums.samples.len && (sums.samples.items[at].series != sample->series ||
						 sums.samples.items[at].stack != sample->stack))
			at++;
		if (at == sums.samples.len)
			sums.samples.items[sums.samples.len++] = (struct sample){
				.series = sample->series, .stack = sample->stack, .time_ms = HOUR_MS
			};
		sums.samples.items[at].value =
			(int64_t)((uint64_t)sums.samples.items[at].value + (uint64_t)sample->value);
	}
	/* Series are told apart by their ids alone there. */
	for (size_t i = 0; i < sums.series.len; i++) {
		struct series *series = &sums.series.items[i];
		struct label *label = arena_new(arena, struct label);

		*label = (struct label){ STR("id"),
					 str_format(arena, "%jx", (uintmax_t)series->id) };
		series->labels = (struct labels){ label, 1 };
	}
	return sample_set_text(&sums, arena);
}

static void an_hour_is_the_sum_of_its_rows(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set all;
	struct rollup_fold fold;
	struct err err;

	(void)state;
	sample_set_init(&all, &arena);
	rollup_fold_init(&fold, HOUR_MS, &arena);
	for (uint64_t i = 0; i < ROWS; i++) {
		struct sample_set set;
		const struct random_options options = {
			.seed = i,
			.samples = 300,
			.series = 5,
			.stacks = 30,
			.frames = 40,
			.label_sets = 7,
			.first_ms = HOUR_MS + i * 300000,
			.span_ms = 300000,
		};

		sample_set_init(&set, &arena);
		random_set_fill(&set, &options);
		sample_set_merge(&all, &set, NULL);

		struct compact_row row = row_of(&set, &arena);

		assert_true(rollup_fold_add(&fold, &row, &err));
	}
	rollup_fold_end(&fold);

	assert_int_equal(fold.samples, all.samples.len);
	assert_true(fold.set.samples.len < all.samples.len);
	assert_true(str_eq(sums_text(&fold.set, &arena), sums_text(&all, &arena)));
	for (size_t i = 0; i < fold.set.samples.len; i++) {
		assert_int_equal(fold.set.samples.items[i].time_ms, HOUR_MS);
		assert_int_equal(fold.set.samples.items[i].labels, 0);
	}
}

static void a_gauge_is_not_added_up(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct rollup_fold fold;
	struct label comm = { STR("comm"), STR("heap") };
	struct labels labels = { &comm, 1 };
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);

	uint32_t heap =
		sample_set_series(&set, STR("memory:inuse_space:bytes:space:bytes"), labels, 0);
	uint32_t cpu = sample_set_series(&set, STR(PROFILE_TYPE_CPU), labels, 10);

	set.series.items[heap].id = 1;
	set.series.items[cpu].id = 2;
	for (uint64_t i = 0; i < 10; i++)
		sample_set_add(&set, (struct sample){ .series = i % 2 ? heap : cpu,
						      .value = 10,
						      .time_ms = HOUR_MS + i });

	struct compact_row row = row_of(&set, &arena);

	rollup_fold_init(&fold, HOUR_MS, &arena);
	assert_true(rollup_fold_add(&fold, &row, &err));
	rollup_fold_end(&fold);
	assert_int_equal(fold.samples, 10);
	assert_int_equal(fold.set.samples.len, 1);
	assert_int_equal(fold.set.samples.items[0].value, 50);
	assert_int_equal(fold.set.series.items[fold.set.samples.items[0].series].id, 2);
}

static void a_damaged_row_is_told(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct rollup_fold fold;
	struct compact_row row = { .payload = STR("no row") };
	struct err err;

	(void)state;
	rollup_fold_init(&fold, HOUR_MS, &arena);
	assert_false(rollup_fold_add(&fold, &row, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

RUN_TESTS(TEST(an_hour_is_the_sum_of_its_rows), TEST(a_gauge_is_not_added_up),
	  TEST(a_damaged_row_is_told))
