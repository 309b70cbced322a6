// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/profile_type.h"
#include "store/chunk/chunk_encode.h"
#include "store/compact/rollup_fold_internal.h"
#include "support/random_set.h"
#include "support/test.h"

#include <stdio.h>

#define HOUR_MS (UINT64_C(1790000000000) / MS_PER_HOUR * MS_PER_HOUR)

enum { ROWS = 9, MANY = 30000 };

static struct compact_row row_of(const struct sample_set *set, struct arena *arena)
{
	struct compact_row row = { .first_ms = UINT64_MAX, .samples = set->samples.len };

	for (size_t i = 0; i < set->samples.len; i++) {
		uint64_t time_ms = set->samples.items[i].time_ms;

		row.first_ms = time_ms < row.first_ms ? time_ms : row.first_ms;
		row.last_ms = time_ms > row.last_ms ? time_ms : row.last_ms;
	}
	row.payload = chunk_encode(set, 1, arena, NULL);
	return row;
}

/* The reference: removes times and labels and sums the rest, the slow way. */
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
	/* Series are distinguished by their ids only. */
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
	assert_true(fold.sums.samples.len < all.samples.len);
	assert_true(str_eq(sums_text(&fold.sums, &arena), sums_text(&all, &arena)));
	for (size_t i = 0; i < fold.sums.samples.len; i++) {
		assert_int_equal(fold.sums.samples.items[i].time_ms, HOUR_MS);
		assert_int_equal(fold.sums.samples.items[i].labels, 0);
	}
}

static void many_sums_are_stored_once(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct rollup_fold fold;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);

	uint32_t series = sample_set_series(&set, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 1);

	for (uint64_t i = 0; i < MANY; i++) {
		struct frame frame = { .type = STR("native"), .address = i };
		uint32_t index = sample_set_frame(&set, &frame);

		sample_set_add(&set, (struct sample){ .series = series,
						      .stack = sample_set_stack(&set, &index, 1),
						      .value = 1,
						      .time_ms = HOUR_MS });
	}

	struct compact_row row = row_of(&set, &arena);

	rollup_fold_init(&fold, HOUR_MS, &arena);
	for (uint64_t i = 0; i < ROWS; i++) {
		assert_true(rollup_fold_add(&fold, &row, &err));
		assert_true(fold.sums.samples.len < 5 * MANY);
	}
	rollup_fold_end(&fold);
	assert_int_equal(fold.sums.samples.len, MANY);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(fold.sums.samples.items[i].value, ROWS);
}

/* The samples of one process: sums by the stack's address, and times. */
struct process_sums {
	int64_t sums[8];
	bool seen[8], at[64];
};

static uint32_t pid_of(const struct sample_set *set, const struct sample *sample)
{
	str text = labels_get(set->label_sets.items[sample->labels], STR("pid"));

	return text.len ? (uint32_t)(text.ptr[0] - '0') : 0;
}

static void add_sample(const struct sample_set *set, const struct sample *sample,
		       struct process_sums *process)
{
	struct stack stack = set->stacks.items[sample->stack];
	uint64_t address = stack.len ? set->frames.items[stack.frames[0]].address : 0;

	process->sums[address] += sample->value;
	process->seen[address] = true;
	process->at[sample->time_ms - HOUR_MS] = true;
}

static void put_process(const struct process_sums *process, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(process->sums); i++)
		if (process->seen[i])
			buf_format(out, " %zu=%jd", i, (intmax_t)process->sums[i]);
	for (size_t i = 0; i < ARRAY_LEN(process->at); i++)
		if (process->at[i])
			buf_format(out, " @%zu", i);
	buf_format(out, "\n");
}

/* Sums by process and stack, and times by process, as samples of a set. */
static str gauge_text(const struct sample_set *set, struct arena *arena)
{
	struct process_sums processes[4][3] = { 0 };
	struct buf out = { .arena = arena };

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];
		uint64_t series = set->series.items[sample->series].id;
		uint32_t pid = pid_of(set, sample);

		if (series < ARRAY_LEN(processes) && pid < ARRAY_LEN(processes[0]))
			add_sample(set, sample, &processes[series][pid]);
	}
	for (size_t series = 0; series < ARRAY_LEN(processes); series++)
		for (size_t pid = 0; pid < ARRAY_LEN(processes[0]); pid++) {
			buf_format(&out, "%zu/%zu:", series, pid);
			put_process(&processes[series][pid], &out);
		}
	return buf_bytes(&out);
}

/* Processes with more stacks than profiles, and vice versa. */
static void fill_heaps(struct sample_set *set, uint32_t chance)
{
	static const char *const pids[] = { "0", "1", "2" };

	for (uint64_t id = 1; id < 4; id++) {
		struct label label = { STR("id"), str_from(pids[id - 1]) };
		struct label *kept = arena_new(set->arena, struct label);

		*kept = label;

		uint32_t series =
			sample_set_series(set, STR("memory:inuse_space:bytes:space:bytes"),
					  (struct labels){ kept, 1 }, 0);

		set->series.items[series].id = id;
		for (uint32_t i = 0; i < 40; i++) {
			struct label *own = arena_array(set->arena, struct label, 2);
			struct frame frame = { .type = STR("native") };

			chance = chance * 1664525 + 1013904223;
			own[0] = (struct label){ STR("pid"), str_from(pids[chance >> 8 & 1]) };
			own[1] = (struct label){ STR("thread_name"), STR("io") };
			frame.address = chance >> 12 & (id == 1 ? 1 : 7);

			uint32_t index = sample_set_frame(set, &frame);

			sample_set_add(
				set,
				(struct sample){ .series = series,
						 .stack = sample_set_stack(set, &index, 1),
						 .labels = sample_set_labels(
							 set, (struct labels){ own, 1 + (i & 1) }),
						 .value = (int64_t)(chance >> 20),
						 .time_ms = HOUR_MS +
							    (chance >> 16 & (id == 2 ? 3 : 63)) });
		}
	}
}

static void a_gauge_keeps_sums_and_times_by_process(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set all;
	struct rollup_fold fold;
	struct err err;

	(void)state;
	sample_set_init(&all, &arena);
	rollup_fold_init(&fold, HOUR_MS, &arena);
	for (uint32_t i = 0; i < ROWS; i++) {
		struct sample_set set;

		sample_set_init(&set, &arena);
		fill_heaps(&set, i);
		sample_set_merge(&all, &set, NULL);

		struct compact_row row = row_of(&set, &arena);

		assert_true(rollup_fold_add(&fold, &row, &err));
	}
	rollup_fold_end(&fold);
	for (uint32_t i = 0; i < all.series.len; i++) /* merging has changed their ids */
		all.series.items[i].id =
			(uint64_t)(all.series.items[i].labels.items[0].value.ptr[0] - '0') + 1;

	assert_int_equal(fold.samples, all.samples.len);
	assert_int_equal(fold.sums.samples.len, 0);
	assert_true(fold.gauges.samples.len < all.samples.len / 2);
	assert_true(str_eq(gauge_text(&fold.gauges, &arena), gauge_text(&all, &arena)));
}

static void gauges_are_separate_from_sums(void **state)
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
	assert_int_equal(fold.sums.samples.len, 1);
	assert_int_equal(fold.sums.samples.items[0].value, 50);
	assert_int_equal(fold.sums.series.items[fold.sums.samples.items[0].series].id, 2);
	assert_int_equal(fold.gauges.samples.len, 5); /* a sample for each of its times */
	assert_int_equal(fold.gauges.samples.items[0].value, 50);
	assert_int_equal(fold.gauges.samples.items[4].value, 0);
}

static void a_row_with_samples_outside_its_times_is_reported(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct rollup_fold fold;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	fill_heaps(&set, 1);

	struct compact_row row = row_of(&set, &arena);

	row.last_ms = row.first_ms;
	rollup_fold_init(&fold, HOUR_MS, &arena);
	assert_false(rollup_fold_add(&fold, &row, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

static void a_corrupt_row_is_reported(void **state)
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

RUN_TESTS(TEST(an_hour_is_the_sum_of_its_rows), TEST(many_sums_are_stored_once),
	  TEST(a_gauge_keeps_sums_and_times_by_process), TEST(gauges_are_separate_from_sums),
	  TEST(a_row_with_samples_outside_its_times_is_reported), TEST(a_corrupt_row_is_reported))
