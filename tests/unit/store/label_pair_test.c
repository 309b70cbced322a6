// SPDX-License-Identifier: Apache-2.0
/*
 * The id of a pair depends on where its name ends and its value begins.
 */
#include "store/label_pair.h"
#include "store/scan/store_stats.h"
#include "support/test.h"

static void moving_a_letter_from_value_to_name_changes_the_id(void **state)
{
	AUTO_ARENA arena = { 0 };
	int64_t id = label_pair_id(STR("ab"), STR("cd"), &arena);

	(void)state;
	assert_int_equal(label_pair_id(STR("ab"), STR("cd"), &arena), id);
	assert_int_not_equal(label_pair_id(STR("abc"), STR("d"), &arena), id);
	assert_int_not_equal(label_pair_id(STR("a"), STR("bcd"), &arena), id);
	assert_int_not_equal(label_pair_id(STR("cd"), STR("ab"), &arena), id);
	assert_int_not_equal(label_pair_id(STR("ab"), (str){ 0 }, &arena), id);
}

/* Ids are keys in tables, so they must never change. */
static void ids_are_the_same_as_in_the_first_version(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_int_equal(label_pair_id(STR("comm"), STR("postgres"), &arena),
			 INT64_C(-0x2a9552503bfe96cf));
}

static void counts_of_a_worker_are_added_but_not_its_times(void **state)
{
	struct store_stats whole = { .chunks = 1, .read_ns = 5, .series = 2 };
	struct store_stats part = { .chunks = 2,
				    .bytes = 3,
				    .unreadable = 4,
				    .samples_read = 5,
				    .samples_matched = 6,
				    .connections = 7,
				    .series = 8,
				    .rows = 9,
				    .find_ns = 10,
				    .read_ns = 11 };

	(void)state;
	store_stats_add(&whole, &part);
	assert_int_equal(whole.chunks, 3);
	assert_int_equal(whole.bytes, 3);
	assert_int_equal(whole.unreadable, 4);
	assert_int_equal(whole.samples_read, 5);
	assert_int_equal(whole.samples_matched, 6);
	assert_int_equal(whole.connections, 7);
	assert_true(whole.series == 2 && whole.rows == 0 && whole.find_ns == 0 &&
		    whole.read_ns == 5);
}

RUN_TESTS(TEST(moving_a_letter_from_value_to_name_changes_the_id),
	  TEST(ids_are_the_same_as_in_the_first_version),
	  TEST(counts_of_a_worker_are_added_but_not_its_times))
