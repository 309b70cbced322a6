// SPDX-License-Identifier: Apache-2.0
#include "base/base_limits.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/liveness.h"
#include "support/test.h"

#include <sys/syscall.h>

static _Atomic uint64_t ahead_ns; /* of the clock of this process */

static int clock_ahead(clockid_t clock, struct timespec *ret_time)
{
	int result = (int)syscall(SYS_clock_gettime, clock, ret_time);

	if (clock == CLOCK_MONOTONIC)
		*ret_time = clock_timespec(clock_timespec_ns(*ret_time) + ahead_ns);
	return result;
}

/* Replaces that of libc for the code under test, which reads the clock through base/clock.h. */
int clock_gettime(clockid_t /*clock*/, struct timespec * /*ret_time*/)
	__attribute__((alias("clock_ahead")));

static void pass(uint64_t ms)
{
	ahead_ns += ms * NS_PER_MS;
}

static void a_thread_that_does_not_advance_is_named(void **state)
{
	struct err why;

	(void)state;
	liveness_begin("first");
	liveness_step("storing");
	pass(LIVENESS_MS - 1000);
	assert_true(liveness_check(&why));
	pass(2000);
	assert_false(liveness_check(&why));
	assert_int_equal(why.code, ERR_TIMEOUT);
	assert_string_equal(why.msg, "the first thread has hung for 26 s: storing");
	liveness_advance();
	assert_true(liveness_check(&why));
	liveness_end();
}

static void a_thread_that_is_not_watched_cannot_hang(void **state)
{
	struct err why;

	(void)state;
	liveness_step("nothing");
	pass(LIVENESS_MS * 2);
	assert_true(liveness_check(&why));
	assert_int_equal(liveness_wait_ms(UINT64_MAX), INT32_MAX);
	liveness_begin("second");
	liveness_end();
	liveness_end();
	pass(LIVENESS_MS * 2);
	assert_true(liveness_check(&why));
}

static void the_first_name_stays(void **state)
{
	struct err why;

	(void)state;
	liveness_begin("outer");
	liveness_begin("inner");
	pass(LIVENESS_MS + 1000);
	assert_false(liveness_check(&why));
	assert_string_equal(why.msg, "the outer thread has hung for 26 s");
	liveness_end();
	assert_true(liveness_check(&why));
}

/* A thread of the test begins and ends on request; this is how far it is. */
struct other {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_begun, must_end;
};

static void *run_other(void *self)
{
	struct other *other = self;

	liveness_begin("other");
	pthread_mutex_lock(&other->lock);
	other->is_begun = true;
	pthread_cond_broadcast(&other->changed);
	while (!other->must_end)
		pthread_cond_wait(&other->changed, &other->lock); /* it does not advance */
	pthread_mutex_unlock(&other->lock);
	liveness_end();
	return NULL;
}

static void start_other(struct other *other, pthread_t *ret_thread)
{
	assert_int_equal(pthread_create(ret_thread, NULL, run_other, other), 0);
	pthread_mutex_lock(&other->lock);
	while (!other->is_begun)
		pthread_cond_wait(&other->changed, &other->lock);
	pthread_mutex_unlock(&other->lock);
}

static void end_other(struct other *other)
{
	pthread_mutex_lock(&other->lock);
	other->must_end = true;
	pthread_cond_broadcast(&other->changed);
	pthread_mutex_unlock(&other->lock);
}

static void the_thread_that_hung_first_is_named(void **state)
{
	struct other other = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };
	struct err why;
	pthread_t thread;

	(void)state;
	start_other(&other, &thread);
	pass(5000);
	liveness_begin("late");
	pass(LIVENESS_MS + 1000);
	assert_false(liveness_check(&why));
	assert_string_equal(why.msg, "the other thread has hung for 31 s");
	liveness_advance();
	assert_false(liveness_check(&why));
	end_other(&other);
	liveness_join(thread);
	assert_true(liveness_check(&why));
	liveness_end();
}

static void threads_end_in_any_order(void **state)
{
	static const size_t orders[][3] = { { 0, 1, 2 }, { 1, 0, 2 }, { 2, 1, 0 } };
	struct err why;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		struct other others[3];
		pthread_t threads[3];

		for (size_t j = 0; j < 3; j++) {
			others[j] = (struct other){ PTHREAD_MUTEX_INITIALIZER,
						    PTHREAD_COND_INITIALIZER, false, false };
			start_other(&others[j], &threads[j]);
		}
		pass(LIVENESS_MS + 1000);
		for (size_t j = 0; j < 3; j++) {
			assert_false(liveness_check(&why));
			end_other(&others[orders[i][j]]);
			liveness_join(threads[orders[i][j]]);
		}
		assert_true(liveness_check(&why));
	}
}

static void a_wait_is_divided_and_advances(void **state)
{
	struct other other = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };
	struct err why;

	(void)state;
	liveness_begin("waiting");
	assert_int_equal(liveness_wait_ms(UINT64_MAX), LIVENESS_WAIT_MS);
	assert_int_equal(liveness_wait_ms(20), 20);
	pass(LIVENESS_MS + 1000);
	assert_true(cancel_wait(NULL, 1));
	assert_true(liveness_check(&why));
	pass(LIVENESS_MS + 1000);
	clock_sleep_ms(1);
	assert_true(liveness_check(&why));
	pass(LIVENESS_MS + 1000);
	pthread_mutex_lock(&other.lock);
	assert_false(cond_wait(&other.changed, &other.lock, 0));
	pthread_mutex_unlock(&other.lock);
	assert_true(liveness_check(&why));
	liveness_end();
}

RUN_TESTS(TEST(a_thread_that_does_not_advance_is_named),
	  TEST(a_thread_that_is_not_watched_cannot_hang), TEST(the_first_name_stays),
	  TEST(the_thread_that_hung_first_is_named), TEST(threads_end_in_any_order),
	  TEST(a_wait_is_divided_and_advances))
