// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/read_budget_internal.h"
#include "base/clock.h"
#include "support/test.h"

static const int64_t burst_ns = PROC_SMALL_BURST_MS * (int64_t)NS_PER_MS;

static void begins_with_a_burst(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, 5 * NS_PER_SECOND);
	assert_int_equal(budget.cpu_ns[READ_SMALL].tokens, burst_ns);
	assert_int_equal(budget.cpu_ns[READ_LARGE].tokens, PROC_LARGE_BURST_MS * NS_PER_MS);
}

static void is_closed_until_a_reading_is_paid_for(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, NS_PER_SECOND);
	read_budget_charge(&budget, READ_SMALL, (uint64_t)burst_ns + 15 * NS_PER_MS);
	assert_false(read_budget_is_open(&budget, READ_SMALL));
	read_budget_refill(&budget, 2 * NS_PER_SECOND);
	assert_false(read_budget_is_open(&budget, READ_SMALL));
	read_budget_refill(&budget, 3 * NS_PER_SECOND);
	assert_true(read_budget_is_open(&budget, READ_SMALL));
	assert_int_equal(budget.cpu_ns[READ_SMALL].tokens, 5 * NS_PER_MS);
}

static void large_processes_do_not_use_the_time_of_the_others(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, NS_PER_SECOND);
	read_budget_charge(&budget, READ_LARGE, 10 * NS_PER_SECOND);
	assert_false(read_budget_is_open(&budget, READ_LARGE));
	assert_true(read_budget_is_open(&budget, READ_SMALL));
}

static void a_pause_adds_no_more_than_a_burst(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, NS_PER_SECOND);
	read_budget_charge(&budget, READ_SMALL, 1);
	read_budget_refill(&budget, 1000000 * NS_PER_SECOND);
	assert_int_equal(budget.cpu_ns[READ_SMALL].tokens, burst_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_with_a_burst),
		cmocka_unit_test(is_closed_until_a_reading_is_paid_for),
		cmocka_unit_test(large_processes_do_not_use_the_time_of_the_others),
		cmocka_unit_test(a_pause_adds_no_more_than_a_burst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
