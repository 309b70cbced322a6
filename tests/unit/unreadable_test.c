// SPDX-License-Identifier: Apache-2.0
#include "../../services/ingester/unreadable.h"
#include "test.h"

/* A partition with one batch that cannot be read: [first, last], of messages up to end. */
struct world {
	int64_t first, last, end;
};

/* Where reading goes on; asks as many times as it is told to. */
static int64_t search(struct world *world, unsigned int *ret_asked)
{
	struct unreadable unreadable = UNREADABLE_NONE;
	enum unreadable_step step =
		unreadable_inside(&unreadable, 3, world->first, world->first, world->end);

	*ret_asked = 0;
	while (step == UNREADABLE_FETCH) {
		int64_t asked = unreadable.next;

		assert_true(asked > world->first && asked < world->end);
		assert_true(++*ret_asked < 1000);
		if (asked <= world->last)
			step = unreadable_inside(&unreadable, 3, world->first, asked, world->end);
		else
			step = unreadable_outside(&unreadable, asked);
	}
	assert_true(unreadable.first == world->first);
	return unreadable.next;
}

static void goes_on_just_behind_the_batch(void **state)
{
	(void)state;
	for (int64_t len = 1; len < 70; len++)
		for (int64_t behind = 0; behind < 70; behind += 3) {
			struct world world = { 100, 99 + len, 100 + len + behind };
			unsigned int asked;

			assert_true(search(&world, &asked) == world.last + 1);
			assert_true(asked <= 2 + 2 * 7);
		}
}

static void a_batch_of_one_message_takes_one_question(void **state)
{
	struct world world = { 41, 41, 1000000 };
	unsigned int asked;

	(void)state;
	assert_true(search(&world, &asked) == 42);
	assert_int_equal(asked, 1);
}

static void the_largest_of_batches_takes_few_questions(void **state)
{
	struct world world = { 0, 9999, 100000000 };
	unsigned int asked;

	(void)state;
	assert_true(search(&world, &asked) == 10000);
	assert_true(asked < 50);
}

/* One answer that comes too late must not cost a message that could be read. */
static void an_answer_to_an_earlier_question_skips_nothing(void **state)
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

static void begins_where_the_batch_was_entered(void **state)
{
	struct unreadable unreadable = UNREADABLE_NONE;

	(void)state;
	assert_int_equal(unreadable_inside(&unreadable, 0, 10, 15, 16), UNREADABLE_DONE);
	assert_int_equal(unreadable.first, 15);
	assert_int_equal(unreadable.next, 16);
}

static void another_batch_that_cannot_be_read_ends_this_one(void **state)
{
	struct unreadable unreadable = UNREADABLE_NONE;

	(void)state;
	assert_int_equal(unreadable_inside(&unreadable, 0, 2, 2, 50), UNREADABLE_FETCH);
	assert_int_equal(unreadable_outside(&unreadable, 3), UNREADABLE_DONE);
	assert_int_equal(unreadable_inside(&unreadable, 0, 3, 3, 50), UNREADABLE_FETCH);
	assert_int_equal(unreadable.first, 3);
	assert_int_equal(unreadable.next, 4);
}

RUN_TESTS(TEST(goes_on_just_behind_the_batch), TEST(a_batch_of_one_message_takes_one_question),
	  TEST(the_largest_of_batches_takes_few_questions),
	  TEST(an_answer_to_an_earlier_question_skips_nothing),
	  TEST(begins_where_the_batch_was_entered),
	  TEST(another_batch_that_cannot_be_read_ends_this_one))
