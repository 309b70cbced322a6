// SPDX-License-Identifier: Apache-2.0
#include "store/write/received_set.h"
#include "support/test.h"

#include <stdio.h>

static void accepts_each_number_once(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct received_set seen = { 0 };

	(void)state;
	assert_int_equal(received_set_add(&seen, 1, &arena), RECEIVED_NEW);
	assert_int_equal(received_set_add(&seen, 2, &arena), RECEIVED_NEW);
	assert_int_equal(received_set_add(&seen, 2, &arena), RECEIVED_DUPLICATE);
	assert_int_equal(received_set_add(&seen, 1, &arena), RECEIVED_DUPLICATE);
	assert_int_equal(seen.highest, 2);
	assert_int_equal(received_set_missing(&seen), 0);
}

static void distinguishes_a_late_number_from_a_duplicate(void **state)
{
	static const struct {
		uint64_t sequence;
		enum received_verdict verdict;
		const char *missing;
	} rows[] = {
		{ 9, RECEIVED_NEW, "{[1,9)}" },
		{ 5, RECEIVED_LATE, "{[1,5),[6,9)}" }, /* splits */
		{ 5, RECEIVED_DUPLICATE, "{[1,5),[6,9)}" },
		{ 1, RECEIVED_LATE, "{[2,5),[6,9)}" }, /* from the left */
		{ 8, RECEIVED_LATE, "{[2,5),[6,8)}" }, /* from the right */
		{ 12, RECEIVED_NEW, "{[2,5),[6,8),[10,12)}" },
		{ 9, RECEIVED_DUPLICATE, "{[2,5),[6,8),[10,12)}" },
		{ 7, RECEIVED_LATE, "{[2,5),[6,7),[10,12)}" },
		{ 6, RECEIVED_LATE, "{[2,5),[10,12)}" }, /* the last of a range */
	};
	AUTO_ARENA arena = { 0 };
	struct received_set seen = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(received_set_add(&seen, rows[i].sequence, &arena),
				 rows[i].verdict);
		assert_true(str_eq(received_set_missing_text(&seen, &arena),
				   str_from(rows[i].missing)));
	}
}

/* Compared with an array of booleans, in an order shuffled by a linear congruence. */
static void agrees_with_a_table_of_booleans(void **state)
{
	enum { NUMBERS = 1009 };
	AUTO_ARENA arena = { 0 };
	struct received_set seen = { 0 };
	bool came[NUMBERS + 1] = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 3 * NUMBERS; i++) {
		uint64_t sequence = i * 617 % NUMBERS + 1;
		bool had = received_set_has(&seen, sequence);
		enum received_verdict verdict = received_set_add(&seen, sequence, &arena);
		uint64_t missing = 0;

		assert_int_equal(verdict == RECEIVED_DUPLICATE, came[sequence]);
		assert_int_equal(had, came[sequence]);
		came[sequence] = true;
		for (uint64_t n = 1; n <= seen.highest; n++)
			missing += !came[n];
		assert_int_equal(received_set_missing(&seen), missing);
	}
	assert_int_equal(seen.missing_count, 0);
}

static void counts_the_oldest_range_beyond_the_limit_as_gap(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct received_set seen = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= RECEIVED_RANGES_MAX; i++)
		assert_int_equal(received_set_add(&seen, 4 * i, &arena), RECEIVED_NEW);
	assert_int_equal(seen.missing_count, RECEIVED_RANGES_MAX);
	assert_int_equal(seen.gap, 0);

	/* One more range at the top, then one by a split. */
	assert_int_equal(received_set_add(&seen, 4 * (RECEIVED_RANGES_MAX + 1), &arena),
			 RECEIVED_NEW);
	assert_int_equal(seen.gap, 3);
	assert_int_equal(received_set_add(&seen, 1, &arena), RECEIVED_DUPLICATE);
	assert_int_equal(received_set_add(&seen, 10, &arena), RECEIVED_LATE);
	assert_int_equal(seen.missing_count, RECEIVED_RANGES_MAX);
	assert_int_equal(seen.gap, 6);
}

static void reads_back_the_text_it_wrote(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct received_set seen = { 0 }, back = { .highest = 9, .gap = 2 };
	struct err err;

	(void)state;
	for (uint64_t i = 3; i <= 30; i += 3)
		(void)received_set_add(&seen, i, &arena);
	assert_true(received_set_missing_parse(received_set_missing_text(&seen, &arena), &arena,
					       &back, &err));
	assert_int_equal(back.missing_count, seen.missing_count);
	assert_memory_equal(back.missing, seen.missing, seen.missing_count * sizeof(*seen.missing));
	assert_int_equal(back.highest, 9);
	assert_int_equal(back.gap, 2);
	assert_true(received_set_missing_parse(STR("{}"), &arena, &back, &err));
	assert_int_equal(back.missing_count, 0);
}

static void rejects_text_that_is_not_canonical(void **state)
{
	static const char *const bad[] = {
		"",         "{",        "[1,2)",         "{[1,2]}",       "{(0,2)}",
		"{[2,2)}",  "{[3,2)}",  "{[0,2)}",       "{[1,3),[2,5)}", "{[1,3),[3,5)}",
		"{[1,2),}", "{[1,2)x}", "{[1,2)x[4,5)}",
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct received_set seen = { 0 };
		struct err err;

		assert_false(received_set_missing_parse(str_from(bad[i]), &arena, &seen, &err));
		assert_int_equal(err.code, ERR_INVALID);
		assert_int_equal(seen.missing_count, 0);
	}
}

static void counts_missing_numbers_below_a_number(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct received_set seen = { .highest = 20 };
	struct err err;
	static const struct {
		uint64_t below, missing;
	} rows[] = { { 0, 0 }, { 1, 0 },  { 4, 0 },  { 5, 1 },  { 6, 2 },         { 7, 3 },
		     { 8, 3 }, { 10, 3 }, { 11, 4 }, { 12, 4 }, { UINT64_MAX, 4 } };

	(void)state;
	assert_true(received_set_missing_parse(STR("{[4,7),[10,11)}"), &arena, &seen, &err));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(received_set_missing_below(&seen, rows[i].below), rows[i].missing);
}

RUN_TESTS(TEST(accepts_each_number_once), TEST(distinguishes_a_late_number_from_a_duplicate),
	  TEST(agrees_with_a_table_of_booleans),
	  TEST(counts_the_oldest_range_beyond_the_limit_as_gap), TEST(reads_back_the_text_it_wrote),
	  TEST(rejects_text_that_is_not_canonical), TEST(counts_missing_numbers_below_a_number))
