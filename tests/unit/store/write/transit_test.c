// SPDX-License-Identifier: Apache-2.0
#include "store/write/transit.h"
#include "support/test.h"

/* A batch with a number, its samples, and what was spooled up to it. */
struct batch {
	uint64_t sequence, samples, spooled;
};

static uint64_t missing_after(const struct batch *batches, size_t count)
{
	AUTO_ARENA arena = { 0 };
	struct received_set seen = { 0 };
	struct transit transit = { 0 };

	for (size_t i = 0; i < count; i++) {
		uint64_t highest = seen.highest;

		if (received_set_add(&seen, batches[i].sequence, &arena) == RECEIVED_NEW)
			transit_add_new(&transit,
					&(struct transit_batch){ .spooled = batches[i].spooled,
								 .samples = batches[i].samples,
								 .skipped = batches[i].sequence -
									    highest - 1 });
		else
			transit_add_late(&transit, batches[i].samples);
		transit_settle(&transit, &seen);
	}
	return transit.missing;
}

static void counts_the_samples_of_missing_batches(void **state)
{
	static const struct {
		const char *what;
		struct batch batches[4];
		size_t count;
		uint64_t missing;
	} rows[] = {
		{ "nothing arrived", { { 0 } }, 0, 0 },
		{ "all arrived", { { 1, 5, 5 }, { 2, 4, 9 } }, 2, 0 },
		{ "the first are missing", { { 3, 5, 20 } }, 1, 15 },
		{ "two between are missing", { { 3, 30, 30 }, { 6, 10, 75 } }, 2, 35 },
		{ "and one of them arrives late",
		  { { 3, 30, 30 }, { 6, 10, 75 }, { 4, 20, 50 } },
		  3,
		  15 },
		{ "all that were missing arrive",
		  { { 1, 5, 5 }, { 4, 1, 12 }, { 3, 2, 11 }, { 2, 4, 9 } },
		  4,
		  0 },
		{ "a batch without a hole below it moves no sample",
		  { { 1, 5, 5 }, { 2, 1, 500 } },
		  2,
		  0 },
		{ "with less than it says is missing, nothing is missing any more",
		  { { 1, 5, 5 }, { 3, 1, 9 }, { 2, 900, 8 } },
		  3,
		  0 },
		{ "a status that goes back counts as nothing missing",
		  { { 1, 5, 50 }, { 3, 1, 9 } },
		  2,
		  0 },
		{ "absurd counts stay in the column",
		  { { 2, 0, UINT64_MAX }, { 4, 0, UINT64_MAX } },
		  2,
		  INT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		print_message("# %s\n", rows[i].what);
		assert_int_equal(missing_after(rows[i].batches, rows[i].count), rows[i].missing);
	}
}

static void estimates_the_remainder_of_an_older_row(void **state)
{
	(void)state;
	assert_int_equal(transit_estimate(100, 60, 7), 47);
	assert_int_equal(transit_estimate(100, 200, 7), 7);
}

RUN_TESTS(TEST(counts_the_samples_of_missing_batches),
	  TEST(estimates_the_remainder_of_an_older_row))
