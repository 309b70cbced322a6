// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/kernel_check.h"
#include "support/test.h"

#define ALL  "CapEff:\t000001ffffffffff\nSeccomp:\t0\n"
#define HOST "         0          0 4294967295\n"

static bool contains(str text, const char *what)
{
	return str_find(text, str_from(what)) != SIZE_MAX;
}

static void rejects_a_kernel_and_names_the_override(void **state)
{
	static const struct {
		struct kernel_texts texts;
		const char *words[3]; /* NULL: the kernel is accepted */
	} rows[] = {
		{ { STR("6.1.0-9-amd64"), STR("#1 SMP Debian 6.1.27-1"), STR("") },
		  { "Linux 6.1.27 (6.1.0-9-amd64)", "freeze", "--allow-unsafe-kernel" } },
		{ { STR("4.18.0-477.el8"), STR("#1 SMP"), STR("") },
		  { "Linux 4.18.0 (4.18.0-477.el8)", "older than 5.10", "--allow-unsafe-kernel" } },
		{ { STR("6.1.0-56-amd64"), STR("#1 SMP Debian 6.1.192-2"), STR("") }, { NULL } },
		{ { STR("nobody-knows"), STR(""), STR("") }, { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		bool ok = kernel_check_texts(&rows[i].texts, &err);

		assert_int_equal(ok, !rows[i].words[0]);
		for (size_t j = 0; !ok && j < ARRAY_LEN(rows[i].words); j++)
			assert_true(contains(str_from(err.msg), rows[i].words[j]));
	}
}

static void does_not_truncate_the_error_of_a_long_release(void **state)
{
	struct kernel_texts texts = { .release = STR("6.2.0-1018-azure-fde-with-a-long-tail") };
	struct err err = { 0 };

	(void)state;
	assert_false(kernel_check_texts(&texts, &err));
	assert_true(str_ends_with(str_from(err.msg), STR("--allow-unsafe-kernel")));
}

static void explains_which_setting_forbids_bpf(void **state)
{
	static const struct {
		struct kernel_rules rules;
		const char *words; /* empty: no known obstacle */
	} rows[] = {
		{ { STR("none integrity [confidentiality]\n"), STR(ALL), STR("2\n"), STR(HOST) },
		  "locked down (lockdown=confidentiality)" },
		{ { STR("none [integrity] confidentiality\n"), STR(ALL), STR("2\n"), STR(HOST) },
		  "" },
		{ { STR(""), STR("CapEff:\t0000000000000000\n"), STR("3\n"), STR(HOST) },
		  "lacks CAP_BPF and CAP_PERFMON" },
		{ { STR(""), STR("CapEff:\t0000000000000000\n"), STR("3\n"), STR(HOST) },
		  "perf_event_paranoid is 3)" },
		{ { STR(""), STR("CapEff:\t0000008000000000\n"), STR("2\n"), STR(HOST) },
		  "lacks CAP_PERFMON " },
		{ { STR(""), STR("CapEff:\t0000004000000000\n"), STR("2\n"), STR(HOST) },
		  "lacks CAP_BPF " },
		{ { STR(""), STR("CapEff:\t000000c000080000\n"), STR("2\n"), STR(HOST) }, "" },
		{ { STR(""), STR(ALL), STR("2\n"), STR("         0       1000          1\n") },
		  "user namespace" },
		{ { STR(""), STR("CapEff:\t000001ffffffffff\nSeccomp:\t2\n"), STR("2\n"),
		    STR(HOST) },
		  "seccomp" },
		{ { STR(""), STR(""), STR(""), STR("") }, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		str obstacle = kernel_obstacle(&rows[i].rules, &arena);

		assert_int_equal(obstacle.len > 0, rows[i].words[0] != 0);
		assert_true(contains(obstacle, rows[i].words));
	}
}

static void runs_on_the_kernel_of_this_machine(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_true(kernel_check(true, &err));
}

RUN_TESTS(TEST(rejects_a_kernel_and_names_the_override),
	  TEST(does_not_truncate_the_error_of_a_long_release),
	  TEST(explains_which_setting_forbids_bpf), TEST(runs_on_the_kernel_of_this_machine))
