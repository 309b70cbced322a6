// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/cond.h"
#include "support/test.h"

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_set;
};

static void *set(void *arg)
{
	struct shared *shared = arg;

	pthread_mutex_lock(&shared->lock);
	shared->is_set = true;
	pthread_cond_signal(&shared->changed);
	pthread_mutex_unlock(&shared->lock);
	return NULL;
}

static void a_wait_ends_at_its_deadline_and_not_before(void **state)
{
	struct shared shared = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	uint64_t deadline_ns = clock_monotonic_ns() + 20 * NS_PER_MS;

	(void)state;
	pthread_mutex_lock(&shared.lock);
	while (cond_wait(&shared.changed, &shared.lock, deadline_ns))
		;
	pthread_mutex_unlock(&shared.lock);
	assert_true(clock_monotonic_ns() >= deadline_ns);
}

static void a_wait_ends_when_it_is_signalled(void **state)
{
	struct shared shared = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	uint64_t deadline_ns = clock_monotonic_ns() + 600 * NS_PER_SECOND;
	bool is_timely = true;
	pthread_t thread;

	(void)state;
	pthread_mutex_lock(&shared.lock);
	assert_int_equal(pthread_create(&thread, NULL, set, &shared), 0);
	while (!shared.is_set && is_timely)
		is_timely = cond_wait(&shared.changed, &shared.lock, deadline_ns);
	pthread_mutex_unlock(&shared.lock);
	assert_true(shared.is_set && is_timely);
	pthread_join(thread, NULL);
}

RUN_TESTS(TEST(a_wait_ends_at_its_deadline_and_not_before), TEST(a_wait_ends_when_it_is_signalled))
