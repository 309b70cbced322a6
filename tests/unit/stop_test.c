// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/stop.h"
#include "test.h"

static void ends_current_and_later_waits(void **state)
{
	struct stop stop = { .fd = -1 };
	struct err err;

	(void)state;
	assert_true(stop_open(&stop, &err));
	assert_false(stop_is_asked(&stop));
	assert_true(stop_wait(&stop, 1));

	stop_ask(&stop);

	assert_true(stop_is_asked(&stop));
	assert_false(stop_wait(&stop, 60000));
	assert_false(stop_wait(&stop, 0));
	stop_close(&stop);
}

static void a_second_request_does_not_extend_the_grace_period(void **state)
{
	struct stop stop = { .fd = -1 };
	struct err err;

	(void)state;
	assert_true(stop_open(&stop, &err));
	stop_ask(&stop);

	uint64_t ends_ns = stop_bound_ns(&stop, UINT64_MAX, 1000);

	clock_sleep_ms(2);
	stop_ask(&stop);

	assert_int_equal(stop_bound_ns(&stop, UINT64_MAX, 1000), ends_ns);
	stop_close(&stop);
}

static void bounds_a_wait_by_the_earlier_of_deadline_and_grace_period(void **state)
{
	const struct stop never = { .fd = -1 };
	const struct stop asked = { .fd = -1, .asked_ns = 5 * NS_PER_SECOND };
	static const struct {
		uint64_t deadline_s, bound_s;
	} rows[] = { { 6, 6 }, { 7, 7 }, { 60, 7 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t deadline_ns = rows[i].deadline_s * NS_PER_SECOND;

		assert_int_equal(stop_bound_ns(&asked, deadline_ns, 2000),
				 rows[i].bound_s * NS_PER_SECOND);
		assert_int_equal(stop_bound_ns(&never, deadline_ns, 2000), deadline_ns);
		assert_int_equal(stop_bound_ns(NULL, deadline_ns, 2000), deadline_ns);
	}
}

static void null_is_never_cancelled(void **state)
{
	(void)state;
	assert_false(stop_is_asked(NULL));
	assert_true(stop_wait(NULL, 1));
}

RUN_TESTS(TEST(ends_current_and_later_waits),
	  TEST(a_second_request_does_not_extend_the_grace_period),
	  TEST(bounds_a_wait_by_the_earlier_of_deadline_and_grace_period),
	  TEST(null_is_never_cancelled))
