// SPDX-License-Identifier: Apache-2.0
#include "base/reader.h"
#include "store/limits.h"
#include "store/write/raw_row.h"
#include "support/test.h"

/* Columns of RAW_ROW_COPY in binary COPY format: big endian, each after its length. */
enum { ARRIVAL, BUCKET, FIRST_MS, LAST_MS, LATE, SAMPLES, DIRECTORY, PAYLOAD, JOINED, COLUMNS };

static const uint64_t now_ms = UINT64_C(1790000000000);

static uint64_t big_endian(struct reader *r, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | reader_u8(r);
	return value;
}

/* One row; columns of up to eight bytes as numbers. Returns its arrival. */
static uint64_t copied(uint64_t first_ms, uint64_t last_ms, uint64_t ret_columns[COLUMNS])
{
	AUTO_ARENA arena = { 0 };
	struct buf copy = { .arena = &arena };
	struct sample_set set;
	const struct raw_row raw = { .now_ms = now_ms, .bucket = 7, .joined = true };
	const struct chunk_row row = { &set, first_ms, last_ms, STR("d"), STR("pay") };

	sample_set_init(&set, &arena);
	sample_set_series(&set, STR("t"), (struct labels){ 0 }, 1);
	sample_set_add(&set, (struct sample){ .value = 1, .time_ms = first_ms });

	uint64_t arrival_ms = raw_row_copy(&raw, &row, &copy);
	struct reader r = reader_of(buf_bytes(&copy));

	assert_int_equal(big_endian(&r, 2), COLUMNS);
	for (size_t i = 0; i < COLUMNS; i++)
		ret_columns[i] = big_endian(&r, (size_t)big_endian(&r, 4));
	assert_false(r.failed);
	assert_int_equal(reader_left(&r), 0);
	return arrival_ms;
}

static void a_row_has_its_bucket_and_times(void **state)
{
	uint64_t columns[COLUMNS];

	(void)state;
	assert_int_equal(copied(now_ms - 5000, now_ms - 1000, columns), now_ms);
	assert_int_equal(columns[BUCKET], 7);
	assert_int_equal(columns[FIRST_MS], now_ms - 5000);
	assert_int_equal(columns[LAST_MS], now_ms - 1000);
	assert_int_equal(columns[LATE], 0);
	assert_int_equal(columns[SAMPLES], 1);
	assert_int_equal(columns[DIRECTORY], 'd');
	assert_int_equal(columns[PAYLOAD], 'p' << 16 | 'a' << 8 | 'y');
	assert_int_equal(columns[JOINED], 1);
}

static void a_row_older_than_an_hour_is_late(void **state)
{
	uint64_t columns[COLUMNS];

	(void)state;
	copied(now_ms - LATE_MS, now_ms, columns);
	assert_int_equal(columns[LATE], 0);
	copied(now_ms - LATE_MS - 1, now_ms, columns);
	assert_int_equal(columns[LATE], 1);
}

/* No sample is further ahead of its arrival than readers search. */
static void a_clock_that_was_set_back_does_not_hide_samples(void **state)
{
	uint64_t columns[COLUMNS], before, ahead;

	(void)state;
	assert_int_equal(copied(now_ms, now_ms + AHEAD_MS, columns), now_ms);
	before = columns[ARRIVAL];
	assert_int_equal(copied(now_ms, now_ms + AHEAD_MS + 30, columns), now_ms + 30);
	ahead = columns[ARRIVAL];
	assert_int_equal(ahead - before, 30 * 1000); /* PostgreSQL's microseconds */
}

RUN_TESTS(TEST(a_row_has_its_bucket_and_times), TEST(a_row_older_than_an_hour_is_late),
	  TEST(a_clock_that_was_set_back_does_not_hide_samples))
