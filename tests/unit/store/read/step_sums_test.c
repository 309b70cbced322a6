// SPDX-License-Identifier: Apache-2.0
#include "store/read/step_sums_internal.h"
#include "support/test.h"

#include <stdio.h>

enum { STEP_MS = 1000, START_MS = 10 * STEP_MS, END_MS = 20 * STEP_MS };

/* The samples that a sink got, as text: value@time. */
struct received {
	char text[256];
	bool fails;
};

static bool receive(void *self, const struct sample_set *set, struct err *err)
{
	struct received *received = self;

	for (size_t i = 0; i < set->samples.len; i++)
		snprintf(received->text + strlen(received->text),
			 sizeof(received->text) - strlen(received->text), "%lld@%llu ",
			 (long long)set->samples.items[i].value,
			 (unsigned long long)set->samples.items[i].time_ms);
	return !received->fails || err_set(err, ERR_LIMIT, "enough");
}

/* A query for the series 1 and 2, in steps of a second; series 3 has an open matcher. */
struct query {
	struct arena arena;
	struct matched_series matched;
	struct scan_plan plan;
	struct received received;
	struct store_sink sink;
	struct store_stats stats;
	struct step_sums steps;
};

static void add_series(struct query *query, uint64_t id, uint32_t open)
{
	struct series_match *series = arena_new(&query->arena, struct series_match);

	series->type = STR("type");
	series->open = open;
	*map_at(&query->matched.by_id,
		str_copy(&query->arena, (str){ (const char *)&id, sizeof(id) })) = series;
}

static void begin(struct query *query)
{
	*query = (struct query){ .plan = scan_plan_make(START_MS, END_MS, NULL, 0) };
	query->matched =
		(struct matched_series){ .arena = &query->arena, .by_id.arena = &query->arena };
	query->plan.series = &query->matched;
	query->plan.steps_start_ms = START_MS;
	query->plan.step_ms = STEP_MS;
	query->sink = (struct store_sink){ .on_samples = receive, .self = &query->received };
	query->steps = (struct step_sums){ .plan = &query->plan,
					   .sink = &query->sink,
					   .stats = &query->stats };
	add_series(query, 1, 0);
	add_series(query, 2, 0);
	add_series(query, 3, 1);
}

/* The result of step_sums_add() for a row with these series. */
static bool add_row(struct query *query, const struct directory_series *series, size_t count)
{
	return step_sums_add(&query->steps,
			     &(struct chunk_directory){ .series = series, .series_count = count });
}

static bool end(struct query *query, bool good, struct err *err)
{
	bool ended = step_sums_end(&query->steps, good, err);

	arena_free(&query->arena);
	return ended;
}

static void sums_of_rows_within_one_step_need_no_payload(void **state)
{
	static const struct directory_series row[] = {
		{ .id = 1, .count = 3, .sum = 30, .first_ms = START_MS, .last_ms = START_MS + 999 },
		{ .id = 2, .count = 1, .sum = -4, .first_ms = END_MS - 1, .last_ms = END_MS - 1 },
		{ .id = 9, .count = 7, .sum = 70, .first_ms = START_MS, .last_ms = END_MS },
	};
	struct query query;
	struct err err;

	(void)state;
	begin(&query);
	assert_true(add_row(&query, row, ARRAY_LEN(row)));
	assert_true(add_row(&query, row, 1));
	assert_true(end(&query, true, &err));
	assert_string_equal(query.received.text, "30@10000 -4@19999 30@10000 ");
	assert_int_equal(query.stats.samples_matched, 7);
	assert_int_equal(query.stats.samples_read, 7);
}

static void other_rows_need_their_payload(void **state)
{
	static const struct directory_series rows[][2] = {
		/* It spans two steps; it begins before or ends after the window; an open matcher.
		 */
		{ { .id = 1, .first_ms = START_MS + 999, .last_ms = START_MS + 1000 } },
		{ { .id = 1, .first_ms = START_MS - 1, .last_ms = START_MS } },
		{ { .id = 1, .first_ms = END_MS - 1, .last_ms = END_MS } },
		{ { .id = 3, .first_ms = START_MS, .last_ms = START_MS } },
		/* One series of a row suffices for it. */
		{ { .id = 1, .first_ms = START_MS, .last_ms = START_MS },
		  { .id = 2, .first_ms = START_MS, .last_ms = START_MS + 1000 } },
	};
	struct query query;
	struct err err;

	(void)state;
	begin(&query);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_false(add_row(&query, rows[i], rows[i][1].id ? 2 : 1));
	assert_true(end(&query, true, &err));
	assert_string_equal(query.received.text, "");
}

static void series_outside_the_window_are_left_out(void **state)
{
	static const struct directory_series row[] = {
		{ .id = 1,
		  .count = 1,
		  .sum = 5,
		  .first_ms = START_MS - 9,
		  .last_ms = START_MS - 1 },
		{ .id = 2, .count = 1, .sum = 6, .first_ms = END_MS, .last_ms = END_MS + 9 },
	};
	struct query query;
	struct err err;

	(void)state;
	begin(&query);
	assert_true(add_row(&query, row, ARRAY_LEN(row)));
	assert_true(end(&query, true, &err));
	assert_string_equal(query.received.text, "");
	assert_int_equal(query.stats.samples_read, 0);
}

static void many_sums_are_passed_in_parts(void **state)
{
	static const struct directory_series row = {
		.id = 1, .count = 1, .sum = 1, .first_ms = START_MS, .last_ms = START_MS
	};
	struct query query;
	struct err err;

	(void)state;
	begin(&query);
	for (int i = 0; i < 1 << 14; i++)
		assert_true(add_row(&query, &row, 1));
	assert_true(strlen(query.received.text) > 0);
	assert_true(end(&query, true, &err));
}

static void an_error_of_the_sink_is_the_result(void **state)
{
	static const struct directory_series row = {
		.id = 1, .count = 1, .sum = 1, .first_ms = START_MS, .last_ms = START_MS
	};
	struct query query;
	struct err err;

	(void)state;
	begin(&query);
	query.received.fails = true;
	for (int i = 0; i < (1 << 14) + 1; i++)
		assert_true(add_row(&query, &row, 1));
	assert_false(end(&query, true, &err));
	assert_int_equal(err.code, ERR_LIMIT);

	/* After a failed scan the sink gets nothing, and the scan's error stays. */
	begin(&query);
	assert_true(add_row(&query, &row, 1));
	(void)err_set(&err, ERR_CORRUPT, "the scan failed");
	assert_false(end(&query, false, &err));
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_string_equal(query.received.text, "");
}

RUN_TESTS(TEST(sums_of_rows_within_one_step_need_no_payload), TEST(other_rows_need_their_payload),
	  TEST(series_outside_the_window_are_left_out), TEST(many_sums_are_passed_in_parts),
	  TEST(an_error_of_the_sink_is_the_result))
