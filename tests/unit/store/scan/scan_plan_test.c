// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "store/compact/rollup.h"
#include "store/scan/scan_plan.h"
#include "support/test.h"

#define H MS_PER_HOUR
#define D MS_PER_DAY

#define CHUNKS    (1U << SCAN_FROM_HOURS)
#define RAW       (1U << SCAN_RAW | 1U << SCAN_RAW_LATE)
#define AROUND    (1U << SCAN_NOT_SUMMED | 1U << SCAN_BEFORE_HOURS | CHUNKS | RAW)
#define HOUR_SUMS (1U << SCAN_HOUR_SUMS)
#define DAY_SUMS  (1U << SCAN_DAY_SUMS)
#define GAUGES    (1U << SCAN_GAUGES)

static const int32_t none[1], of_series[] = { ROLLUP_ALONE, ROLLUP_SERIES },
			      of_gauges[] = { ROLLUP_GAUGES }, of_fleet[] = { ROLLUP_FLEET };

static void reads_only_what_the_window_needs(void **state)
{
	static const struct {
		uint64_t start_ms, end_ms;
		const int32_t *kinds;
		size_t kind_count;
		bool days, alone;
		uint32_t sources;
	} rows[] = {
		/* Without sums: samples, whatever the window. */
		{ 10 * D, 12 * D, none, 0, false, false, CHUNKS | RAW },
		{ 10 * D, 12 * D, none, 0, true, false, CHUNKS | RAW },
		{ 10 * D, 12 * D, none, 0, true, true, 0 },
		/* A window without a whole hour. */
		{ 10 * D + 1, 10 * D + H, of_series, 2, false, false, CHUNKS | RAW },
		{ 10 * D + 1, 10 * D + 2 * H - 1, of_series, 2, false, false, CHUNKS | RAW },
		{ 10 * D + 1, 10 * D + 2 * H - 1, of_fleet, 1, true, true, 0 },
		{ 10 * D, 10 * D, of_series, 2, false, false, CHUNKS | RAW },
		/* Whole hours. */
		{ 10 * D, 10 * D + H, of_series, 2, false, false, HOUR_SUMS | AROUND },
		{ 10 * D + 1, 10 * D + 2 * H, of_series, 2, false, false, HOUR_SUMS | AROUND },
		{ 10 * D, 10 * D + H, of_gauges, 1, false, false, HOUR_SUMS | AROUND | GAUGES },
		{ 10 * D, 10 * D + H, of_fleet, 1, true, true, HOUR_SUMS },
		{ 10 * D, 11 * D - 1, of_fleet, 1, true, true, HOUR_SUMS },
		/* Whole days: only the scan of sums alone reads their sums. */
		{ 10 * D, 11 * D, of_fleet, 1, false, true, HOUR_SUMS },
		{ 10 * D, 11 * D, of_fleet, 1, true, true, HOUR_SUMS | DAY_SUMS },
		{ 10 * D + 1, 12 * D + 1, of_fleet, 1, true, true, HOUR_SUMS | DAY_SUMS },
		{ 10 * D + 1, 12 * D + 1, of_series, 2, true, false, HOUR_SUMS | AROUND },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct scan_plan plan = scan_plan_make(rows[i].start_ms, rows[i].end_ms,
						       rows[i].kinds, rows[i].kind_count);

		if (rows[i].days)
			scan_plan_use_days(&plan);
		plan.sums_alone = rows[i].alone;
		if (scan_plan_sources(&plan) != rows[i].sources)
			fail_msg("row %zu: sources %#x instead of %#x", i, scan_plan_sources(&plan),
				 rows[i].sources);
	}
}

static void assert_range(struct scan_range range, uint64_t start_ms, uint64_t end_ms)
{
	assert_int_equal(range.start_ms, start_ms);
	assert_int_equal(range.end_ms, end_ms);
}

/* Hours and remainder cover each window, without overlap; days are a part of the hours. */
static void hours_and_remainder_are_the_window(void **state)
{
	static const uint64_t offsets_ms[] = {
		0,     1,     H - 1,     H,     H + 1,     D - H, D - H + 1, D - 1,        D,
		D + 1, D + H, 2 * D - 1, 2 * D, 2 * D + 1, 3 * D, 5 * D,     5 * D + H - 1
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(offsets_ms); i++) {
		for (size_t j = i; j < ARRAY_LEN(offsets_ms); j++) {
			uint64_t start_ms = 100 * D + offsets_ms[i];
			uint64_t end_ms = 100 * D + offsets_ms[j];
			struct scan_plan plan = scan_plan_make_series(start_ms, end_ms);
			struct scan_range parts[2];

			scan_plan_use_days(&plan);
			scan_plan_remainder(&plan, parts);
			assert_int_equal(plan.hours.start_ms % H, 0);
			assert_int_equal(plan.hours.end_ms % H, 0);
			assert_int_equal(parts[0].start_ms, start_ms);
			assert_int_equal(parts[1].end_ms, end_ms);
			if (plan.hours.start_ms == plan.hours.end_ms) {
				assert_true(end_ms - start_ms < 2 * H - 1);
				assert_range(parts[0], start_ms, end_ms);
				assert_range(parts[1], end_ms, end_ms);
			} else {
				assert_true(plan.hours.start_ms - start_ms < H);
				assert_true(end_ms - plan.hours.end_ms < H);
				assert_range(plan.hours, parts[0].end_ms, parts[1].start_ms);
			}
			if (plan.days.start_ms < plan.days.end_ms) {
				assert_true(plan.days.start_ms >= plan.hours.start_ms &&
					    plan.days.end_ms <= plan.hours.end_ms);
				assert_int_equal(plan.days.start_ms % D, 0);
				assert_int_equal(plan.days.end_ms % D, 0);
			} else {
				assert_range(plan.days, INT64_MAX, INT64_MAX);
			}
		}
	}
}

static void the_whole_of_time_is_a_window(void **state)
{
	struct scan_plan plan = scan_plan_make_series(0, UINT64_C(253402300799000));

	(void)state;
	scan_plan_use_days(&plan);
	assert_range(plan.hours, 0, UINT64_C(253402300799000) / H * H);
	assert_range(plan.days, 0, UINT64_C(253402300799000) / D * D);
	assert_int_equal(scan_plan_sources(&plan), HOUR_SUMS | AROUND | GAUGES);
}

/* A row with series 1 to 4, of which 4 is outside of the window; samples have the label `pid`. */
static const struct directory_series entries[] = {
	{ .id = 1, .first_ms = 0, .last_ms = 1000 },
	{ .id = 2, .first_ms = 1000, .last_ms = 1500 },
	{ .id = 3, .first_ms = 1999, .last_ms = 3000 },
	{ .id = 4, .first_ms = 2000, .last_ms = 3000 },
};
static const str names[] = { { "pid", 3 } };
static const struct chunk_directory row = { .series = entries,
					    .series_count = ARRAY_LEN(entries),
					    .names = names,
					    .name_count = ARRAY_LEN(names) };

/* A digit for each wanted series. */
static void assert_wants(const struct scan_plan *plan, const char *expected)
{
	bool wanted[ARRAY_LEN(entries)] = { 0 };
	char text[ARRAY_LEN(entries) + 1] = "";
	size_t len = 0;
	bool any = scan_plan_wants(plan, &row, wanted);

	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		if (wanted[i])
			text[len++] = (char)('0' + entries[i].id);
	assert_string_equal(text, expected);
	assert_int_equal(any, len > 0);
}

static struct series_match *add_series(struct matched_series *matched, uint64_t id, str type)
{
	struct series_match *series = arena_new(matched->arena, struct series_match);
	str key = str_copy(matched->arena, (str){ (const char *)&id, sizeof(id) });

	series->type = type;
	*map_at(&matched->by_id, key) = series;
	return series;
}

static void wants_matched_series_within_the_window(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct matched_series matched = { .arena = &arena, .by_id.arena = &arena };
	struct scan_plan plan = scan_plan_make(1000, 2000, NULL, 0);

	(void)state;
	assert_wants(&plan, "123");
	plan.series = &matched;
	assert_wants(&plan, "");
	for (uint64_t id = 2; id <= 4; id++)
		add_series(&matched, id, STR("type"));
	assert_wants(&plan, "23");
	matched_series_get(&matched, 2)->is_found = true;
	assert_wants(&plan, "3");
}

static void wants_no_series_whose_matcher_cannot_match(void **state)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(selector_done) struct selector selector = { 0 };
	struct matched_series matched = { .arena = &arena, .by_id.arena = &arena };
	struct scan_plan plan = scan_plan_make(1000, 2000, NULL, 0);
	struct err err;

	(void)state;
	assert_true(
		selector_parse(STR("{pid=\"1\",user=\"a\",zone!=\"b\"}"), &arena, &selector, &err));
	plan.series = &matched;
	plan.selector = &selector;
	add_series(&matched, 1, selector.type)->open = 1 << 0; /* a sample can have a pid */
	add_series(&matched, 2, selector.type)->open = 1 << 1; /* no sample has a user */
	add_series(&matched, 3, selector.type)->open = 1 << 2; /* the zone may be absent */
	assert_wants(&plan, "13");
	plan.keeps_candidates = true;
	assert_wants(&plan, "123");
	plan.keeps_candidates = false;
	plan.selector = NULL;
	assert_wants(&plan, "123");
}

static void decodes_series_of_the_right_type(void **state)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(selector_done) struct selector selector = { 0 };
	struct matched_series matched = { .arena = &arena, .by_id.arena = &arena };
	struct scan_plan plan = scan_plan_make(1000, 2000, NULL, 0);
	struct label label = { STR("service_name"), STR("web") };
	struct labels labels = { &label, 1 };
	struct err err;

	(void)state;
	assert_true(selector_parse(STR("{}"), &arena, &selector, &err));
	assert_true(scan_plan_series(&plan, 1, STR("other"), &labels));
	assert_int_equal(labels.len, 0);
	plan.selector = &selector;
	assert_false(scan_plan_series(&plan, 1, STR("other"), &labels));
	assert_true(scan_plan_series(&plan, 1, selector.type, &labels));

	plan.series = &matched;
	assert_false(scan_plan_series(&plan, 1, selector.type, &labels));
	add_series(&matched, 1, selector.type)->labels = (struct labels){ &label, 1 };
	assert_false(scan_plan_series(&plan, 1, STR("other"), &labels));
	assert_true(scan_plan_series(&plan, 1, selector.type, &labels));
	assert_ptr_equal(labels.items, &label);
	matched_series_get(&matched, 1)->is_found = true;
	assert_false(scan_plan_series(&plan, 1, selector.type, &labels));
}

RUN_TESTS(TEST(reads_only_what_the_window_needs), TEST(hours_and_remainder_are_the_window),
	  TEST(the_whole_of_time_is_a_window), TEST(wants_matched_series_within_the_window),
	  TEST(wants_no_series_whose_matcher_cannot_match), TEST(decodes_series_of_the_right_type))
