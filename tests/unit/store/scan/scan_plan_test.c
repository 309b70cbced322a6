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

RUN_TESTS(TEST(reads_only_what_the_window_needs), TEST(hours_and_remainder_are_the_window),
	  TEST(the_whole_of_time_is_a_window))
