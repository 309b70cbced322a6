// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.h"
#include "base/clock.h"
#include "support/test.h"

static void ends_current_and_later_waits(void **state)
{
	struct cancel cancel = { .fd = -1 };
	struct err err;

	(void)state;
	assert_true(cancel_open(&cancel, &err));
	assert_false(cancel_requested(&cancel));
	assert_true(cancel_wait(&cancel, 1));

	cancel_request(&cancel);

	assert_true(cancel_requested(&cancel));
	assert_false(cancel_wait(&cancel, 60000));
	assert_false(cancel_wait(&cancel, 0));
	cancel_close(&cancel);
}

static void a_second_request_does_not_extend_the_grace_period(void **state)
{
	struct cancel cancel = { .fd = -1 };
	struct err err;

	(void)state;
	assert_true(cancel_open(&cancel, &err));
	cancel_request(&cancel);

	uint64_t ends_ns = cancel_deadline_ns(&cancel, UINT64_MAX, 1000);

	clock_sleep_ms(2);
	cancel_request(&cancel);

	assert_int_equal(cancel_deadline_ns(&cancel, UINT64_MAX, 1000), ends_ns);
	cancel_close(&cancel);
}

static void bounds_a_wait_by_the_earlier_of_deadline_and_grace_period(void **state)
{
	const struct cancel never = { .fd = -1 };
	const struct cancel asked = { .fd = -1, .requested_ns = 5 * NS_PER_SECOND };
	static const struct {
		uint64_t deadline_s, bound_s;
	} rows[] = { { 6, 6 }, { 7, 7 }, { 60, 7 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t deadline_ns = rows[i].deadline_s * NS_PER_SECOND;

		assert_int_equal(cancel_deadline_ns(&asked, deadline_ns, 2000),
				 rows[i].bound_s * NS_PER_SECOND);
		assert_int_equal(cancel_deadline_ns(&never, deadline_ns, 2000), deadline_ns);
		assert_int_equal(cancel_deadline_ns(NULL, deadline_ns, 2000), deadline_ns);
	}
}

static void null_is_never_cancelled(void **state)
{
	(void)state;
	assert_false(cancel_requested(NULL));
	assert_true(cancel_wait(NULL, 1));
}

RUN_TESTS(TEST(ends_current_and_later_waits),
	  TEST(a_second_request_does_not_extend_the_grace_period),
	  TEST(bounds_a_wait_by_the_earlier_of_deadline_and_grace_period),
	  TEST(null_is_never_cancelled))
