// SPDX-License-Identifier: Apache-2.0
#include "agent/process/proc_internal.h"
#include "base/clock.h"
#include "support/test.h"

#include <pthread.h>

static void reads_stat_with_any_characters_in_the_name(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_true(proc_stat_parse(STR("7 (a) R ) S 5 7 7 0 -1 2097216 0 0 0 0 0 0 0 0 20 0 3 0 "
					"12345 0 0 1 0\n"),
				    &stat));
	assert_int_equal(stat.parent_pid, 5);
	assert_int_equal(stat.threads, 3);
	assert_int_equal(stat.start_ticks, 12345);
	assert_true(stat.kernel_thread);
	assert_false(proc_stat_parse(STR("7 (a) R 5 7 7"), &stat));
	assert_false(proc_stat_parse(STR(""), &stat));
}

static void reads_its_own_process(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct proc_stat stat;
	uint32_t pid = (uint32_t)getpid();

	(void)state;
	assert_true(proc_stat_read(pid, &stat));
	assert_int_equal(stat.parent_pid, getppid());
	assert_false(stat.kernel_thread);
	assert_true(str_ends_with(proc_exe(&arena, pid), STR("proc_test")));
	assert_true(proc_read(&arena, pid, "smaps", 1 << 20).len > 8192);
	assert_int_equal(proc_read(&arena, UINT32_MAX, "maps", 1 << 20).len, 0);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_the_mutex(void *self)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return self;
}

/* The least of several readings: a thread of the machine may interrupt one. */
static uint64_t cpu_ns_of_a_reading(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		struct proc_stat stat;
		uint64_t began_ns = clock_thread_cpu_ns();

		assert_true(proc_stat_read((uint32_t)getpid(), &stat));

		uint64_t used_ns = clock_thread_cpu_ns() - began_ns;

		if (used_ns < least)
			least = used_ns;
	}
	return least;
}

static void reads_a_process_of_many_threads_as_fast_as_one_of_one(void **state)
{
	enum { THREADS = 2000 };
	static pthread_t threads[THREADS];
	uint64_t before_ns = cpu_ns_of_a_reading(), after_ns;
	struct proc_stat stat;
	pthread_attr_t small;

	(void)state;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	pthread_mutex_lock(&held);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], &small, wait_for_the_mutex, NULL), 0);
	after_ns = cpu_ns_of_a_reading();
	assert_true(proc_stat_read((uint32_t)getpid(), &stat));
	pthread_mutex_unlock(&held);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	assert_in_range(stat.threads, THREADS + 1, UINT32_MAX);
	if (after_ns > 2 * before_ns)
		fail_msg("%lu ns, with threads %lu ns", before_ns, after_ns);
}

RUN_TESTS(TEST(reads_a_process_of_many_threads_as_fast_as_one_of_one),
	  TEST(reads_stat_with_any_characters_in_the_name), TEST(reads_its_own_process))
