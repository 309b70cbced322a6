// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/merge/range_sums.h"
#include "querier/report/range_report.h"
#include "support/random_set.h"
#include "support/test.h"

static struct err err;

static void fill(struct sample_set *row, struct arena *arena, uint64_t seed, size_t samples)
{
	sample_set_init(row, arena);
	random_set_fill(row, &(struct random_options){ .seed = seed,
						       .samples = samples,
						       .series = 7,
						       .stacks = 3,
						       .frames = 5,
						       .label_sets = 6,
						       .first_ms = 1000000,
						       .span_ms = 60000 });
	for (size_t i = 0; i < row->samples.len; i++)
		row->samples.items[i].value = (int64_t)(i % 5) + 1;
}

/* The value of a label, as a selector reads it. */
static str value_of(const struct sample_set *row, const struct sample *sample, str name)
{
	str value = labels_get(row->series.items[sample->series].labels, name);

	return value.ptr ? value : labels_get(row->label_sets.items[sample->labels], name);
}

static int64_t sum_by_hand(const struct sample_set *row, const struct range_line *line,
			   const struct group_by *by, uint64_t from_ms, uint64_t to_ms)
{
	int64_t sum = 0;

	for (size_t i = 0; i < row->samples.len; i++) {
		const struct sample *sample = &row->samples.items[i];
		bool is_in = sample->time_ms >= from_ms && sample->time_ms < to_ms;

		for (size_t j = 0; by && j < by->len; j++) {
			str name = by->names[j];

			is_in = is_in &&
				str_eq(value_of(row, sample, name), labels_get(line->labels, name));
		}
		if (!by)
			is_in = is_in &&
				labels_eq(row->series.items[sample->series].labels, line->labels);
		sum += is_in ? sample->value : 0;
	}
	return sum;
}

static void assert_is_summed(const struct group_by *by, uint64_t seed, uint64_t step_ms)
{
	AUTO_ARENA arena = { 0 };
	const struct range_options options = { by, 1000000, step_ms, 1 << 26 };
	struct sample_set row;
	struct range_sums range;
	struct range_result result;
	int64_t all = 0, expected = 0;

	fill(&row, &arena, seed, 500);
	range_sums_init(&range, &options, &arena);
	assert_true(range_sums_add_row(&range, &row, &err));
	assert_true(range_sums_finish(&range, 0, &result, &err));
	for (size_t i = 0; i < result.count; i++) {
		const struct range_line *line = &result.lines[i];
		int64_t sum = 0;

		if (i)
			assert_true(labels_compare(line[-1].labels, line->labels) < 0);
		for (size_t j = 0; j < line->count; j++) {
			uint64_t from_ms = 1000000 + line->points[j].step * step_ms;

			if (j)
				assert_true(line->points[j - 1].step < line->points[j].step);
			assert_int_equal(line->points[j].sum,
					 sum_by_hand(&row, line, by, from_ms, from_ms + step_ms));
			sum += line->points[j].sum;
		}
		assert_int_equal(sum, line->sum);
		all += sum;
	}
	for (size_t i = 0; i < row.samples.len; i++)
		expected += row.samples.items[i].value;
	assert_int_equal(all, expected);
	assert_int_equal(result.left_out, 0);
}

static void every_step_of_every_group_is_the_sum_of_its_samples(void **state)
{
	static const struct group_by none,
		by = { .names = { { "comm", 4 }, { "pid", 3 }, { "absent", 6 } }, .len = 3 };

	(void)state;
	for (uint64_t seed = 1; seed < 8; seed++) {
		assert_is_summed(&none, seed, 1 + seed * 1000);
		assert_is_summed(&by, seed, seed);
		assert_is_summed(NULL, seed, 60000 / seed);
	}
}

static bool has_gone(const void *request, struct err *e)
{
	assert_ptr_equal(request, &err);
	return err_set(e, ERR_CANCELLED, "the client has gone");
}

/* Rows are added, and other ranges combined, until the request ends. */
static void a_range_ends_with_its_request(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct range_options options = { NULL, 1000000, 700, 1 << 26 };
	struct range_sums range, other;
	struct sample_set row;

	(void)state;
	fill(&row, &arena, 1, 500);
	range_sums_init(&other, &options, &arena);
	assert_true(range_sums_add_row(&other, &row, &err));
	options.may_continue = has_gone;
	options.request = &err;
	for (int combines = 0; combines < 2; combines++) {
		int calls = 0;

		range_sums_init(&range, &options, &arena);
		while (combines ? range_sums_combine(&range, &other, &err)
				: range_sums_add_row(&range, &row, &err))
			assert_true(++calls < 1000);
		assert_int_equal(err.code, ERR_CANCELLED);
	}
}

static void parallel_ranges_add_up_to_one(void **state)
{
	AUTO_ARENA arena = { 0 }, others = { 0 }, more = { 0 };
	const struct range_options options = { NULL, 1000000, 700, 1 << 26 };
	const struct query_stats stats = { 0 };
	struct memory memory = { 0 };
	struct sample_set rows[2];
	struct range_sums ranges[2], whole;
	struct range_result result, expected;
	str bodies[2];

	(void)state;
	range_sums_init(&whole, &options, &more);
	for (size_t i = 0; i < 2; i++) {
		fill(&rows[i], &more, i + 1, 300);
		range_sums_init(&ranges[i], &options, i ? &others : &arena);
		range_sums_share_memory(&ranges[i], &memory);
		assert_true(range_sums_add_row(&ranges[i], &rows[i], &err));
		assert_true(range_sums_add_row(&whole, &rows[i], &err));
	}
	assert_int_equal(memory.used, arena.size + others.size);
	assert_true(range_sums_combine(&ranges[0], &ranges[1], &err));
	assert_true(range_sums_finish(&ranges[0], 0, &result, &err));
	assert_true(range_sums_finish(&whole, 0, &expected, &err));
	assert_true(range_report_write(
		&(struct range_report_input){ &ranges[0], &result, STR(""), &stats }, &more,
		&bodies[0], &err));
	assert_true(range_report_write(
		&(struct range_report_input){ &whole, &expected, STR(""), &stats }, &more,
		&bodies[1], &err));
	for (size_t i = 0; i < 2; i++)
		bodies[i].len = str_find(bodies[i], STR(",\"stats\""));
	assert_true(str_eq(bodies[0], bodies[1]));
}

static void a_limit_keeps_the_biggest_and_reports_what_it_leaves_out(void **state)
{
	static const struct group_by by = { .names = { { "comm", 4 } }, .len = 1 };
	AUTO_ARENA arena = { 0 };
	const struct range_options options = { &by, 1000000, 1000, 1 << 26 };
	const struct query_stats stats = { 0 };
	struct sample_set row;
	struct range_sums range;
	struct range_result all, some;
	str body;

	(void)state;
	fill(&row, &arena, 3, 500);
	range_sums_init(&range, &options, &arena);
	assert_true(range_sums_add_row(&range, &row, &err));
	assert_true(range_sums_finish(&range, 0, &all, &err));
	assert_true(all.count > 3);
	assert_true(range_sums_finish(&range, 3, &some, &err));
	assert_int_equal(some.count, 3);
	assert_int_equal(some.left_out, all.count - 3);

	int64_t kept = 0, sum = 0, least = INT64_MAX;
	size_t above = 0;

	for (size_t i = 0; i < some.count; i++) {
		kept += some.lines[i].sum;
		least = some.lines[i].sum < least ? some.lines[i].sum : least;
	}
	for (size_t i = 0; i < all.count; i++) {
		sum += all.lines[i].sum;
		above += all.lines[i].sum > least;
	}
	assert_true(above < 3);
	assert_int_equal(kept + some.left_out_sum, sum);

	const str gap = STR("retention: a gap");
	struct range_report_input input = { &range, &some, STR(""), &stats, &gap, 1 };

	assert_true(range_report_write(&input, &arena, &body, &err));
	assert_true(str_find(body, str_format(&arena,
					      "\"warnings\":[\"retention: a gap\",\"limit=3: %zu "
					      "more series, whose sum is %jd, are left out; the "
					      "biggest are here\"]",
					      some.left_out, (intmax_t)some.left_out_sum)) !=
		    SIZE_MAX);
}

static void writes_a_matrix_as_prometheus_does(void **state)
{
	static const struct label comm = { { "comm", 4 }, { "a\"b", 3 } };
	AUTO_ARENA arena = { 0 };
	const struct range_options options = { NULL, 1000250, 1500, 1 << 26 };
	const struct query_stats stats = { 0 };
	struct sample_set row;
	struct range_sums range;
	struct range_result result;
	str body;

	(void)state;
	sample_set_init(&row, &arena);
	sample_set_series(&row, STR(PROFILE_TYPE_CPU), (struct labels){ &comm, 1 }, 0);
	sample_set_add(&row, (struct sample){ .value = 5, .time_ms = 1000250 });
	sample_set_add(&row, (struct sample){ .value = 6, .time_ms = 1001749 });
	sample_set_add(&row, (struct sample){ .value = INT64_MAX, .time_ms = 1003250 });
	range_sums_init(&range, &options, &arena);
	assert_true(range_sums_add_row(&range, &row, &err));
	assert_false(
		range_sums_finish(&range, 0, &result, &err)); /* the sum of the line overflows */
	assert_int_equal(err.code, ERR_LIMIT);

	row.samples.items[2].value = -7;
	range_sums_init(&range, &options, &arena);
	assert_true(range_sums_add_row(&range, &row, &err));
	assert_true(range_sums_finish(&range, 0, &result, &err));

	struct range_report_input input = { &range, &result, STR("t"), &stats };

	assert_true(range_report_write(&input, &arena, &body, &err));
	assert_true(str_starts_with(
		body, STR("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
			  "{\"metric\":{\"__name__\":\"t\",\"comm\":\"a\\\"b\"},\"values\":["
			  "[1000.25,\"11\"],[1003.25,\"-7\"]]}]},\"stats\":{")));
}

static void ends_at_its_memory_limit(void **state)
{
	AUTO_ARENA arena = { 0 }, of_nothing = { 0 }, of_row = { 0 };
	const struct range_options options = { NULL, 1000000, 1, 256 << 10 };
	struct sample_set row;
	struct range_sums range;

	(void)state;
	fill(&row, &of_nothing, 1, 0); /* it begins within its limit */
	range_sums_init(&range, &options, &arena);
	assert_true(range_sums_add_row(&range, &row, &err));

	fill(&row, &of_row, 1, 100000);
	assert_false(range_sums_add_row(&range, &row, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_true(str_starts_with(str_from(err.msg),
				    STR("the response needs more than 262144 bytes of memory")));
}

RUN_TESTS(TEST(every_step_of_every_group_is_the_sum_of_its_samples),
	  TEST(a_range_ends_with_its_request), TEST(parallel_ranges_add_up_to_one),
	  TEST(a_limit_keeps_the_biggest_and_reports_what_it_leaves_out),
	  TEST(writes_a_matrix_as_prometheus_does), TEST(ends_at_its_memory_limit))
