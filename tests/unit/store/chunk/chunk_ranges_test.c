// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_ranges.h"
#include "support/test.h"

enum { SERIES = 10 };

/* Five slices of two series and 100 bytes each, after a head of 50 bytes. */
static struct chunk_slice slices[] = { { 100, 2 }, { 100, 2 }, { 100, 2 }, { 100, 2 }, { 100, 2 } };
static const struct chunk_directory directory = { .series_count = SERIES,
						  .layout = { 50, slices, ARRAY_LEN(slices) } };

static struct chunk_ranges choose(const char *wanted, size_t payload_len, struct arena *arena)
{
	bool series[SERIES];

	for (size_t i = 0; i < SERIES; i++)
		series[i] = wanted[i] == 'x';
	return chunk_ranges_choose(&directory, series, payload_len, arena);
}

static void assert_whole(struct chunk_ranges ranges, size_t payload_len)
{
	assert_int_equal(ranges.slices, 0);
	assert_int_equal(ranges.count, 1);
	assert_int_equal(ranges.ranges[0].at, 0);
	assert_int_equal(ranges.ranges[0].len, payload_len);
	assert_int_equal(ranges.len, payload_len);
}

static void a_slice_is_read_with_the_head(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct chunk_ranges ranges = choose("......x...", 550, &arena);

	(void)state;
	assert_int_equal(ranges.slices, 1);
	assert_int_equal(ranges.count, 2);
	assert_int_equal(ranges.ranges[0].at, 0);
	assert_int_equal(ranges.ranges[0].len, 50);
	assert_int_equal(ranges.ranges[1].at, 350);
	assert_int_equal(ranges.ranges[1].len, 100);
	assert_int_equal(ranges.len, 150);
}

static void adjacent_slices_are_one_range(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct chunk_ranges ranges = choose("xx......x.", 550, &arena);

	(void)state;
	assert_int_equal(ranges.slices, 2);
	assert_int_equal(ranges.count, 2);
	assert_int_equal(ranges.ranges[0].len, 150);
	assert_int_equal(ranges.ranges[1].at, 450);
	ranges = choose("....xxx...", 550, &arena);
	assert_int_equal(ranges.slices, 2);
	assert_int_equal(ranges.count, 2);
	assert_int_equal(ranges.ranges[1].at, 250);
	assert_int_equal(ranges.ranges[1].len, 200);
}

static void a_row_is_read_whole_where_most_of_it_is_wanted(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_int_equal(choose("x.x.x.....", 550, &arena).slices, 3);
	assert_whole(choose("x.x.x.x...", 550, &arena), 550);
}

/* The payload is authoritative, not the directory. */
static void a_row_is_read_whole_where_the_directory_does_not_fit(void **state)
{
	AUTO_ARENA arena = { 0 };
	const struct chunk_directory without = { .series_count = SERIES };
	const bool series[SERIES] = { true };

	(void)state;
	assert_whole(choose("x.........", 551, &arena), 551);
	assert_whole(choose("x.........", 549, &arena), 549);
	assert_whole(choose("..........", 550, &arena), 550);
	assert_whole(chunk_ranges_choose(&without, series, 550, &arena), 550);
}

RUN_TESTS(TEST(a_slice_is_read_with_the_head), TEST(adjacent_slices_are_one_range),
	  TEST(a_row_is_read_whole_where_most_of_it_is_wanted),
	  TEST(a_row_is_read_whole_where_the_directory_does_not_fit))
