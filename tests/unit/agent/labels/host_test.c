// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/host.h"
#include "support/scratch.h"
#include "support/test.h"

#include <stdio.h>

static void reads_lists_of_cpus(void **state)
{
	static const struct {
		const char *text;
		size_t count; /* 0: rejected */
		uint32_t last;
	} rows[] = {
		{ "0\n", 1, 0 },   { "0-1\n", 2, 1 }, { "0-3,8,10-11\n", 7, 11 }, { "", 0, 0 },
		{ "3-1\n", 0, 0 }, { "a\n", 0, 0 },   { "0-99999999\n", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct err err = { 0 };
		uint32_t *cpus;
		size_t count;
		bool ok = host_cpus_parse(str_from(rows[i].text), &arena, &cpus, &count, &err);

		assert_int_equal(ok, rows[i].count > 0);
		if (!ok)
			continue;
		assert_int_equal(count, rows[i].count);
		assert_int_equal(cpus[count - 1], rows[i].last);
	}
}

static void finds_the_cpus_of_this_machine(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct err err = { 0 };
	uint32_t *cpus;
	size_t count;

	(void)state;
	assert_true(host_cpus(HOST_CPUS_ONLINE, &arena, &cpus, &count, &err));
	assert_int_equal(count, sysconf(_SC_NPROCESSORS_ONLN));
}

static void a_list_that_is_too_long_is_an_error_and_not_cut(void **state)
{
	struct scratch scratch = scratch_make();
	AUTO_ARENA arena = { 0 };
	const char *path = str_z(&arena, str_format(&arena, "%s/online", scratch.path));
	struct err err = { 0 };
	uint32_t *cpus;
	size_t count;
	FILE *file = fopen(path, "we");

	(void)state;
	if (!file)
		abort();
	for (size_t i = 0; i < 1500; i++)
		fprintf(file, "%s%zu", i ? "," : "", i * 2);
	fclose(file);
	assert_false(host_cpus(path, &arena, &cpus, &count, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	scratch_remove(&scratch);
}

static void reads_the_kernels_limit_of_frames(void **state)
{
	(void)state;
	assert_in_range(host_stack_max(), 1, 1 << 20);
}

RUN_TESTS(TEST(reads_lists_of_cpus), TEST(finds_the_cpus_of_this_machine),
	  TEST(a_list_that_is_too_long_is_an_error_and_not_cut),
	  TEST(reads_the_kernels_limit_of_frames))
