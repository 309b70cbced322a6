// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "ingester/consume/liveness_internal.h"
#include "support/test.h"

#define SECOND NS_PER_SECOND

static void a_turn_that_does_not_end_is_named(void **state)
{
	struct liveness liveness = { 0 };
	struct err why;

	(void)state;
	liveness_turn(&liveness, 100 * SECOND, 30000);
	assert_true(liveness_check(&liveness, 130 * SECOND, &why));
	assert_false(liveness_check(&liveness, 130 * SECOND + 1, &why));
	assert_int_equal(why.code, ERR_TIMEOUT);
	assert_false(liveness_check(&liveness, 145 * SECOND, &why));
	assert_string_equal(why.msg, "the consumer thread has hung for 45 s");

	liveness_turn(&liveness, 145 * SECOND, 300000);
	assert_true(liveness_check(&liveness, 445 * SECOND, &why));
	assert_false(liveness_check(&liveness, 446 * SECOND, &why));
}

static void a_turn_without_bound_never_hangs(void **state)
{
	struct liveness liveness = { 0 };
	struct err why;

	(void)state;
	assert_true(liveness_check(&liveness, UINT64_MAX, &why));
	liveness_turn(&liveness, 100 * SECOND, 0);
	assert_true(liveness_check(&liveness, UINT64_MAX, &why));
}

static void no_progress_is_a_stall(void **state)
{
	struct liveness liveness = { 0 };

	(void)state;
	liveness_progress(&liveness, 100 * SECOND);
	assert_false(liveness_is_stalled(&liveness, 160 * SECOND, 60000));
	assert_true(liveness_is_stalled(&liveness, 160 * SECOND + 1, 60000));
	liveness_turn(&liveness, 170 * SECOND, 30000); /* turning is no progress */
	assert_true(liveness_is_stalled(&liveness, 170 * SECOND, 60000));
	liveness_progress(&liveness, 170 * SECOND);
	assert_false(liveness_is_stalled(&liveness, 200 * SECOND, 60000));
}

RUN_TESTS(TEST(a_turn_that_does_not_end_is_named), TEST(a_turn_without_bound_never_hangs),
	  TEST(no_progress_is_a_stall))
