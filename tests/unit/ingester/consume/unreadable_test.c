// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/unreadable_internal.h"
#include "support/test.h"

/* A partition with messages up to `end`; the batch [first, last] cannot be decompressed. */
struct world {
	int64_t first, last, end;
};

/* Run the search; returns the offset to continue at, and the number of fetches. */
static int64_t search(struct world *world, unsigned int *ret_fetches)
{
	struct unreadable unreadable = UNREADABLE_NONE;
	enum unreadable_step step =
		unreadable_inside(&unreadable, 3, world->first, world->first, world->end);

	*ret_fetches = 0;
	while (step == UNREADABLE_FETCH) {
		int64_t fetched = unreadable.next;

		assert_true(fetched > world->first && fetched < world->end);
		assert_true(++*ret_fetches < 1000);
		if (fetched <= world->last)
			step = unreadable_inside(&unreadable, 3, world->first, fetched, world->end);
		else
			step = unreadable_outside(&unreadable, fetched);
	}
	assert_true(unreadable.first == world->first);
	return unreadable.next;
}

static void continues_at_the_first_message_after_the_batch(void **state)
{
	(void)state;
	for (int64_t len = 1; len < 70; len++)
		for (int64_t behind = 0; behind < 70; behind += 3) {
			struct world world = { 100, 99 + len, 100 + len + behind };
			unsigned int fetches;

			assert_true(search(&world, &fetches) == world.last + 1);
			assert_true(fetches <= 2 + 2 * 7);
		}
}

static void a_batch_of_one_message_takes_one_fetch(void **state)
{
	struct world world = { 41, 41, 1000000 };
	unsigned int fetches;

	(void)state;
	assert_true(search(&world, &fetches) == 42);
	assert_int_equal(fetches, 1);
}

static void the_largest_batch_takes_few_fetches(void **state)
{
	struct world world = { 0, 9999, 100000000 };
	unsigned int fetches;

	(void)state;
	assert_true(search(&world, &fetches) == 10000);
	assert_true(fetches < 50);
}

/* A late response must not skip a message that could be read. */
static void a_response_to_an_earlier_fetch_skips_nothing(void **state)
{
	struct unreadable unreadable = UNREADABLE_NONE;

	(void)state;
	assert_int_equal(unreadable_inside(&unreadable, 0, 2, 2, 50), UNREADABLE_FETCH);
	assert_int_equal(unreadable.next, 3);
	assert_int_equal(unreadable_inside(&unreadable, 0, 2, 3, 50), UNREADABLE_FETCH); /* late */
	assert_int_equal(unreadable.next, 5);
	assert_int_equal(unreadable_outside(&unreadable, 5), UNREADABLE_FETCH);
	assert_int_equal(unreadable.next, 4);
	assert_int_equal(unreadable_outside(&unreadable, 4), UNREADABLE_FETCH);
	assert_int_equal(unreadable.next, 3); /* once more */
	assert_int_equal(unreadable_outside(&unreadable, 3), UNREADABLE_DONE);
	assert_int_equal(unreadable.next, 3);
}

static void starts_at_the_first_offset_to_read_in_the_batch(void **state)
{
	struct unreadable unreadable = UNREADABLE_NONE;

	(void)state;
	assert_int_equal(unreadable_inside(&unreadable, 0, 10, 15, 16), UNREADABLE_DONE);
	assert_int_equal(unreadable.first, 15);
	assert_int_equal(unreadable.next, 16);
}

static void another_unreadable_batch_ends_this_one(void **state)
{
	struct unreadable unreadable = UNREADABLE_NONE;

	(void)state;
	assert_int_equal(unreadable_inside(&unreadable, 0, 2, 2, 50), UNREADABLE_FETCH);
	assert_int_equal(unreadable_outside(&unreadable, 3), UNREADABLE_DONE);
	assert_int_equal(unreadable_inside(&unreadable, 0, 3, 3, 50), UNREADABLE_FETCH);
	assert_int_equal(unreadable.first, 3);
	assert_int_equal(unreadable.next, 4);
}

RUN_TESTS(TEST(continues_at_the_first_message_after_the_batch),
	  TEST(a_batch_of_one_message_takes_one_fetch), TEST(the_largest_batch_takes_few_fetches),
	  TEST(a_response_to_an_earlier_fetch_skips_nothing),
	  TEST(starts_at_the_first_offset_to_read_in_the_batch),
	  TEST(another_unreadable_batch_ends_this_one))
