// SPDX-License-Identifier: Apache-2.0
#include "tally.h"
#include "test.h"

struct row {
	const char *what;
	struct tally anchor, counted, told;
	bool fits;
	struct tally untold;
	uint64_t rest;
};

static const struct row rows[] = {
	{ .what = "nothing was ever taken", .fits = true },
	{ .what = "all of it was told",
	  .counted = { .taken = 70, .lost = { [LOSS_RING_FULL] = 3 } },
	  .told = { .taken = 70, .lost = { [LOSS_RING_FULL] = 3 } },
	  .fits = true },
	{ .what = "what was in memory is the rest",
	  .counted = { .taken = 70 },
	  .told = { .taken = 60 },
	  .fits = true,
	  .untold = { .taken = 10 },
	  .rest = 10 },
	{ .what = "a loss that was counted and not told keeps its reason",
	  .counted = { .taken = 70, .lost = { [LOSS_RING_FULL] = 5, [LOSS_SPOOL_WRITE] = 2 } },
	  .told = { .taken = 60, .lost = { [LOSS_RING_FULL] = 1 } },
	  .fits = true,
	  .untold = { .taken = 10, .lost = { [LOSS_RING_FULL] = 4, [LOSS_SPOOL_WRITE] = 2 } },
	  .rest = 4 },
	{ .what = "a map that began later than the spool counts from its anchor",
	  .anchor = { .taken = 1000, .lost = { [LOSS_MALFORMED] = 7 } },
	  .counted = { .taken = 70, .lost = { [LOSS_MALFORMED] = 1 } },
	  .told = { .taken = 1060, .lost = { [LOSS_MALFORMED] = 7 } },
	  .fits = true,
	  .untold = { .taken = 10, .lost = { [LOSS_MALFORMED] = 1 } },
	  .rest = 9 },
	{ .what = "more was told than counted",
	  .anchor = { .taken = 1000 },
	  .counted = { .taken = 70 },
	  .told = { .taken = 1071 } },
	{ .what = "more was told than counted of one reason",
	  .counted = { .taken = 70, .lost = { [LOSS_TIMELINE_FULL] = 1 } },
	  .told = { .taken = 60, .lost = { [LOSS_TIMELINE_FULL] = 2 } } },
	{ .what = "more was lost than taken: another agent told of the taken",
	  .counted = { .taken = 70, .lost = { [LOSS_RING_FULL] = 5, [LOSS_MALFORMED] = 6 } },
	  .told = { .taken = 60 } },
	{ .what = "an anchor that nobody can have written",
	  .anchor = { .taken = UINT64_MAX },
	  .counted = { .taken = 70 },
	  .told = { .taken = 1 } },
};

static void tells_what_is_untold(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		struct tally untold = { .taken = 99 }, before = untold;

		print_message("# %s\n", row->what);
		assert_int_equal(tally_untold(&row->anchor, &row->counted, &row->told, &untold),
				 row->fits);
		assert_memory_equal(&untold, row->fits ? &row->untold : &before, sizeof(untold));
		if (row->fits)
			assert_int_equal(tally_rest(&untold), row->rest);
	}
}

RUN_TESTS(TEST(tells_what_is_untold))
