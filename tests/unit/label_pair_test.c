// SPDX-License-Identifier: Apache-2.0
/*
 * The id of a pair is of its name and its value, wherever one ends and the other begins.
 */
#include "store/label_pair.h"
#include "store/store_stats.h"
#include "test.h"

static void a_pair_is_another_one_when_a_letter_moves_from_its_value_to_its_name(void **state)
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

/* They are keys of tables that outlive the program. */
static void ids_are_what_they_were_in_the_first_version(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_int_equal(label_pair_id(STR("comm"), STR("postgres"), &arena),
			 INT64_C(-0x2a9552503bfe96cf));
}

static void what_a_helper_read_is_added_but_not_its_time(void **state)
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

RUN_TESTS(TEST(a_pair_is_another_one_when_a_letter_moves_from_its_value_to_its_name),
	  TEST(ids_are_what_they_were_in_the_first_version),
	  TEST(what_a_helper_read_is_added_but_not_its_time))
