// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/read_budget_internal.h"
#include "base/clock.h"
#include "support/test.h"

static const int64_t burst_ns = PROC_SMALL_BURST_MS * (int64_t)NS_PER_MS;

static const struct share_owner root = { .id = 1 }, greedy = { .id = 2, .class_of = 1 };

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
	read_budget_charge(&budget, READ_SMALL, root, (uint64_t)burst_ns + 15 * NS_PER_MS);
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
	read_budget_charge(&budget, READ_LARGE, root, 10 * NS_PER_SECOND);
	assert_false(read_budget_is_open(&budget, READ_LARGE));
	assert_true(read_budget_is_open(&budget, READ_SMALL));
}

static void a_pause_adds_no_more_than_a_burst(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, NS_PER_SECOND);
	read_budget_charge(&budget, READ_SMALL, root, 1);
	read_budget_refill(&budget, 1000000 * NS_PER_SECOND);
	assert_int_equal(budget.cpu_ns[READ_SMALL].tokens, burst_ns);
}

/* Reads 1 ms at a time while it may; returns how often. */
static int read_all(struct read_budget *budget, struct share_owner owner)
{
	int count = 0;

	for (; read_budget_allows(budget, READ_SMALL, owner); count++)
		read_budget_charge(budget, READ_SMALL, owner, NS_PER_MS);
	return count;
}

static void an_owner_leaves_half_of_a_burst_to_others(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, NS_PER_SECOND);
	assert_in_range(read_all(&budget, greedy), PROC_SMALL_BURST_MS / 2 - 1,
			PROC_SMALL_BURST_MS / 2 + 1);
	assert_true(read_all(&budget, root) >= PROC_SMALL_BURST_MS / 4 - 1);
	assert_true(read_budget_is_open(&budget, READ_SMALL));
}

/* In minutes: what an owner may use that always wants more, while another wants 2 ms a second. */
static void an_owner_that_needs_little_is_never_refused(void **state)
{
	struct read_budget budget = { 0 };
	int count = 0;

	(void)state;
	for (uint64_t i = 0; i < 600; i++) {
		read_budget_refill(&budget, NS_PER_SECOND + i * NS_PER_SECOND / 4);
		count += read_all(&budget, greedy);
		if (i % 2)
			continue;
		assert_true(read_budget_allows(&budget, READ_SMALL, root));
		read_budget_charge(&budget, READ_SMALL, root, NS_PER_MS);
	}
	assert_in_range(count, 150 * (PROC_SMALL_MS_PER_SECOND - 2) - PROC_SMALL_BURST_MS,
			150 * (PROC_SMALL_MS_PER_SECOND - 2) + PROC_SMALL_BURST_MS);
}

static void greedy_owners_get_equal_parts(void **state)
{
	struct read_budget budget = { 0 };
	int of_greedy = 0, of_root = 0;

	(void)state;
	for (uint64_t i = 0; i < 600; i++) {
		read_budget_refill(&budget, NS_PER_SECOND + i * NS_PER_SECOND / 4);
		of_greedy += read_all(&budget, greedy);
		of_root += read_all(&budget, root);
	}
	assert_in_range(of_root, of_greedy * 2 / 3, of_greedy);
	assert_in_range(of_root + of_greedy, 150 * PROC_SMALL_MS_PER_SECOND,
			150 * PROC_SMALL_MS_PER_SECOND + PROC_SMALL_BURST_MS);
}

static void known_processes_leave_half_of_the_time_to_new_ones(void **state)
{
	struct read_budget budget = { 0 };
	int again = 0;

	(void)state;
	for (uint64_t i = 0; i < 600; i++) {
		read_budget_refill(&budget, NS_PER_SECOND + i * NS_PER_SECOND / 4);
		for (; read_budget_allows_again(&budget, READ_SMALL, root); again++)
			read_budget_charge(&budget, READ_SMALL, root, NS_PER_MS);
		assert_true(read_budget_allows(&budget, READ_SMALL, root));
	}
	assert_in_range(again, 150 * PROC_SMALL_MS_PER_SECOND / 3,
			150 * PROC_SMALL_MS_PER_SECOND * 2 / 3);
}

static void any_number_of_owners_is_bounded(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, NS_PER_SECOND);
	read_budget_charge(&budget, READ_SMALL, greedy, 30 * NS_PER_MS);
	for (uint64_t id = 3; id < 3 + 2 * READ_OWNERS_MAX; id++)
		read_budget_charge(&budget, READ_SMALL, (struct share_owner){ .id = id }, 1000);

	assert_false(read_budget_allows(&budget, READ_SMALL, greedy));
	assert_true(read_budget_allows(&budget, READ_SMALL, root));
}

static void half_of_a_burst_is_plenty(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, NS_PER_SECOND);
	read_budget_charge(&budget, READ_SMALL, root, (uint64_t)burst_ns / 2);
	assert_true(read_budget_is_plenty(&budget, READ_SMALL));
	read_budget_charge(&budget, READ_SMALL, root, 1);
	assert_false(read_budget_is_plenty(&budget, READ_SMALL));
}

static void it_is_not_plenty_while_an_owner_has_used_its_share(void **state)
{
	struct read_budget budget = { 0 };

	(void)state;
	read_budget_refill(&budget, NS_PER_SECOND);
	read_budget_charge(&budget, READ_SMALL, greedy, (uint64_t)burst_ns / 2);
	read_budget_refill(&budget, NS_PER_SECOND + NS_PER_SECOND / 5);
	assert_true(read_budget_is_plenty(&budget, READ_SMALL));
	read_budget_charge(&budget, READ_SMALL, greedy, 2 * NS_PER_MS);
	assert_false(read_budget_allows(&budget, READ_SMALL, greedy));
	assert_true(budget.cpu_ns[READ_SMALL].tokens >= burst_ns / 2);
	assert_false(read_budget_is_plenty(&budget, READ_SMALL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_with_a_burst),
		cmocka_unit_test(is_closed_until_a_reading_is_paid_for),
		cmocka_unit_test(large_processes_do_not_use_the_time_of_the_others),
		cmocka_unit_test(a_pause_adds_no_more_than_a_burst),
		cmocka_unit_test(an_owner_leaves_half_of_a_burst_to_others),
		cmocka_unit_test(an_owner_that_needs_little_is_never_refused),
		cmocka_unit_test(greedy_owners_get_equal_parts),
		cmocka_unit_test(known_processes_leave_half_of_the_time_to_new_ones),
		cmocka_unit_test(any_number_of_owners_is_bounded),
		cmocka_unit_test(half_of_a_burst_is_plenty),
		cmocka_unit_test(it_is_not_plenty_while_an_owner_has_used_its_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
