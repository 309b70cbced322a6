// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/profile_type.h"
#include "store/read/query_needs_internal.h"
#include "support/test.h"

#define CPU  PROFILE_TYPE_CPU
#define HEAP "memory:inuse_space:bytes:space:bytes"
#define H    MS_PER_HOUR
#define D    MS_PER_DAY

static void each_level_needs_what_its_table_says(void **state)
{
	static const struct {
		const char *type;
		struct store_projection projection;
		struct query_needs needs; /* stacks, labels: samples, series, sums: hours, days */
	} rows[] = {
		{ CPU, { 0 }, { true, true, true, false, false, 0 } },
		{ HEAP, { 0 }, { true, true, true, false, false, 0 } },
		/* Steps do not matter without sums over steps. */
		{ CPU, { STORE_SAMPLES, NULL, 0, D, D }, { true, true, true, false, false, 0 } },
		{ CPU, { STORE_STACKS, NULL, 0, 1, 1 }, { true, false, false, true, true, 0 } },
		{ HEAP, { .level = STORE_STACKS }, { true, true, false, true, true, 0 } },
		/* Whole hours and days, if none is in two steps. */
		{ CPU,
		  { STORE_SERIES_SUMS, NULL, 0, 9 * D, D },
		  { false, false, true, true, true, D } },
		{ CPU,
		  { STORE_LABEL_SUMS, NULL, 0, 9 * D, D },
		  { false, false, false, true, true, D } },
		{ CPU,
		  { STORE_LABEL_SUMS, NULL, 0, 9 * D + H, 2 * D },
		  { false, false, false, true, false, 2 * D } },
		{ CPU,
		  { STORE_LABEL_SUMS, NULL, 0, 9 * D, 5 * H },
		  { false, false, false, true, false, 5 * H } },
		{ CPU,
		  { STORE_LABEL_SUMS, NULL, 0, 9 * D + 1, D },
		  { false, false, false, false, false, D } },
		{ CPU,
		  { STORE_SERIES_SUMS, NULL, 0, 9 * D, H / 2 },
		  { false, false, true, false, false, H / 2 } },
		/* A gauge is a mean over time: its values are not summed over steps. */
		{ HEAP,
		  { STORE_SERIES_SUMS, NULL, 0, 9 * D, D },
		  { false, true, true, true, true, 0 } },
		{ HEAP,
		  { STORE_LABEL_SUMS, NULL, 0, 9 * D, H },
		  { false, true, false, true, false, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct selector selector = { .type = str_from(rows[i].type) };
		const struct store_query query = { .selector = &selector,
						   .projection = rows[i].projection };
		struct query_needs needs = query_needs_of(&query), expected = rows[i].needs;

		if (needs.stacks != expected.stacks ||
		    needs.sample_labels != expected.sample_labels ||
		    needs.series_labels != expected.series_labels ||
		    needs.hourly_sums != expected.hourly_sums ||
		    needs.daily_sums != expected.daily_sums || needs.step_ms != expected.step_ms)
			fail_msg("row %zu", i);
	}
}

RUN_TESTS(TEST(each_level_needs_what_its_table_says))
