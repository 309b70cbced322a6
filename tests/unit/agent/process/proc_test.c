// SPDX-License-Identifier: Apache-2.0
#include "agent/process/proc_internal.h"
#include "support/test.h"

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

RUN_TESTS(TEST(reads_stat_with_any_characters_in_the_name), TEST(reads_its_own_process))
