// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/loss_counters.h"
#include "support/test.h"

struct row {
	const char *what;
	struct loss_counters baseline, counted, reported;
	bool fits;
	struct loss_counters unreported;
	uint64_t unexplained;
};

static const struct row rows[] = {
	{ .what = "no samples yet", .fits = true },
	{ .what = "all of it was reported",
	  .counted = { .sampled = 70, .lost = { [LOSS_RING_FULL] = 3 } },
	  .reported = { .sampled = 70, .lost = { [LOSS_RING_FULL] = 3 } },
	  .fits = true },
	{ .what = "samples in memory have no reason",
	  .counted = { .sampled = 70 },
	  .reported = { .sampled = 60 },
	  .fits = true,
	  .unreported = { .sampled = 10 },
	  .unexplained = 10 },
	{ .what = "a loss that was counted and not reported keeps its reason",
	  .counted = { .sampled = 70, .lost = { [LOSS_RING_FULL] = 5, [LOSS_SPOOL_WRITE] = 2 } },
	  .reported = { .sampled = 60, .lost = { [LOSS_RING_FULL] = 1 } },
	  .fits = true,
	  .unreported = { .sampled = 10, .lost = { [LOSS_RING_FULL] = 4, [LOSS_SPOOL_WRITE] = 2 } },
	  .unexplained = 4 },
	{ .what = "a map that began later than the spool counts from its baseline",
	  .baseline = { .sampled = 1000, .lost = { [LOSS_MALFORMED] = 7 } },
	  .counted = { .sampled = 70, .lost = { [LOSS_MALFORMED] = 1 } },
	  .reported = { .sampled = 1060, .lost = { [LOSS_MALFORMED] = 7 } },
	  .fits = true,
	  .unreported = { .sampled = 10, .lost = { [LOSS_MALFORMED] = 1 } },
	  .unexplained = 9 },
	{ .what = "more was reported than counted",
	  .baseline = { .sampled = 1000 },
	  .counted = { .sampled = 70 },
	  .reported = { .sampled = 1071 } },
	{ .what = "more was reported than counted of one reason",
	  .counted = { .sampled = 70, .lost = { [LOSS_TIMELINE_FULL] = 1 } },
	  .reported = { .sampled = 60, .lost = { [LOSS_TIMELINE_FULL] = 2 } } },
	{ .what = "more was lost than sampled: another agent has reported samples",
	  .counted = { .sampled = 70, .lost = { [LOSS_RING_FULL] = 5, [LOSS_MALFORMED] = 6 } },
	  .reported = { .sampled = 60 } },
	{ .what = "a baseline that overflows",
	  .baseline = { .sampled = UINT64_MAX },
	  .counted = { .sampled = 70 },
	  .reported = { .sampled = 1 } },
};

static void computes_unreported_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		struct loss_counters unreported = { .sampled = 99 }, before = unreported;

		print_message("# %s\n", row->what);
		assert_int_equal(loss_counters_unreported(&row->baseline, &row->counted,
							  &row->reported, &unreported),
				 row->fits);
		assert_memory_equal(&unreported, row->fits ? &row->unreported : &before,
				    sizeof(unreported));
		if (row->fits)
			assert_int_equal(loss_counters_unexplained(&unreported), row->unexplained);
	}
}

RUN_TESTS(TEST(computes_unreported_samples))
