#include "../../services/ingester/culprit.h"
#include "test.h"

static void many_messages_are_flushed_one_by_one_until_all_were(void **state)
{
	struct culprit culprit = { 0 };

	(void)state;
	assert_int_equal(culprit_refused(&culprit, 3, 0, 9), CULPRIT_SEARCH);
	assert_int_equal(culprit.alone, 3);
	assert_false(culprit_is(&culprit, 0, 9));
	culprit_stored(&culprit, 1);
	assert_int_equal(culprit.alone, 2);
	culprit_stored(&culprit, 5);
	assert_int_equal(culprit.alone, 0);
	culprit_stored(&culprit, 1);
	assert_int_equal(culprit.alone, 0);
}

static void one_message_that_is_refused_is_the_culprit(void **state)
{
	struct culprit culprit = { .alone = 7 };

	(void)state;
	assert_int_equal(culprit_refused(&culprit, 1, 4, 0), CULPRIT_FOUND);
	assert_true(culprit_is(&culprit, 4, 0));
	assert_false(culprit_is(&culprit, 4, 1) || culprit_is(&culprit, 0, 0));
	assert_int_equal(culprit.alone, 7);
	assert_int_equal(culprit_refused(&culprit, 1, 4, 2), CULPRIT_FOUND);
	assert_true(culprit_is(&culprit, 4, 2));
}

static void a_culprit_that_was_rejected_in_vain_is_not_searched_for_again(void **state)
{
	struct culprit culprit = { 0 };

	(void)state;
	assert_int_equal(culprit_refused(&culprit, 1, 4, 5), CULPRIT_FOUND);
	assert_int_equal(culprit_refused(&culprit, 1, 4, 5), CULPRIT_LOST);
}

RUN_TESTS(TEST(many_messages_are_flushed_one_by_one_until_all_were),
	  TEST(one_message_that_is_refused_is_the_culprit),
	  TEST(a_culprit_that_was_rejected_in_vain_is_not_searched_for_again))
