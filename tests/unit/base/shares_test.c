// SPDX-License-Identifier: Apache-2.0
#include "base/shares.h"
#include "support/test.h"

enum { SIZE = 1000 };

static struct share_owner owner(uint64_t id)
{
	return (struct share_owner){ .id = id, .class_of = id % 2 };
}

/* How many places the owner gets if it takes as many as it can. */
static uint64_t take_all(struct shares *shares, uint64_t id)
{
	while (shares_take(shares, owner(id), 1)) {
	}
	return shares_held_by(shares, owner(id));
}

static void one_owner_gets_half_and_a_later_one_its_share(void **state)
{
	struct shares shares = { .size = SIZE };

	(void)state;
	assert_int_equal(take_all(&shares, 1), SIZE / 2);
	assert_int_equal(take_all(&shares, 2), SIZE / 4);
	assert_int_equal(shares.refused[1], 1);
	assert_int_equal(shares.refused[0], 1);
	shares_done(&shares);
	assert_int_equal(shares.held, 0);
}

static void greedy_owners_that_take_in_turn_get_equal_shares(void **state)
{
	enum { OWNERS = 9 };
	struct shares shares = { .size = SIZE };

	(void)state;
	for (size_t round = 0; round < SIZE; round++)
		for (uint64_t id = 0; id < OWNERS; id++)
			(void)!shares_take(&shares, owner(id), 1);
	for (uint64_t id = 0; id < OWNERS; id++)
		assert_int_equal(shares_held_by(&shares, owner(id)), SIZE / (OWNERS + 1));
	shares_done(&shares);
}

static void an_owner_of_little_is_not_limited(void **state)
{
	struct shares shares = { .size = SIZE };

	(void)state;
	for (uint64_t id = 0; id < 90; id++)
		for (size_t i = 0; i < 10; i++)
			assert_true(shares_take(&shares, owner(id), 1));
	assert_false(shares_has_room(&shares, owner(0), SIZE));
	assert_true(shares_has_room(&shares, owner(100), 10));
	shares_done(&shares);
}

static void what_is_released_can_be_taken(void **state)
{
	struct shares shares = { .size = SIZE };

	(void)state;
	(void)take_all(&shares, 1);
	assert_false(shares_has_room(&shares, owner(1), 1));
	shares_release(&shares, owner(1), 1);
	assert_true(shares_has_room(&shares, owner(1), 1));
	shares_release(&shares, owner(1), SIZE / 2 - 1);
	assert_int_equal(shares.held, 0);
	assert_int_equal(shares_held_by(&shares, owner(1)), 0);
	assert_true(shares_take(&shares, owner(2), SIZE / 2));
	assert_false(shares_take(&shares, owner(1), SIZE));
	shares_done(&shares);
}

RUN_TESTS(TEST(one_owner_gets_half_and_a_later_one_its_share),
	  TEST(greedy_owners_that_take_in_turn_get_equal_shares),
	  TEST(an_owner_of_little_is_not_limited), TEST(what_is_released_can_be_taken))
