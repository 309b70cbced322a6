// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/record_budget_internal.h"
#include "base/clock.h"
#include "support/test.h"

static const uint64_t now = 100 * NS_PER_SECOND;

static void begins_with_a_burst_and_adds_no_more(void **state)
{
	struct record_budget budget = { 0 };

	(void)state;
	record_budget_refill(&budget, now);
	assert_int_equal(budget.left, SIDEBAND_RECORDS_BURST);
	record_budget_refill(&budget, 2 * now);
	assert_int_equal(budget.left, SIDEBAND_RECORDS_BURST);
}

static void what_is_used_is_back_after_its_time(void **state)
{
	struct record_budget budget = { 0 };

	(void)state;
	record_budget_refill(&budget, now);
	record_budget_use(&budget, SIDEBAND_RECORDS_BURST);
	assert_int_equal(record_budget_share(&budget, 1), 0);
	/* in steps that are no whole milliseconds */
	for (uint64_t i = 1; i <= 1000; i++)
		record_budget_refill(&budget, now + i * 999999);
	record_budget_refill(&budget, now + NS_PER_SECOND);
	assert_int_equal(budget.left, SIDEBAND_RECORDS_PER_SECOND);
}

static void a_ring_leaves_the_others_their_share(void **state)
{
	struct record_budget budget = { 0 };
	uint64_t shares[4];

	(void)state;
	record_budget_refill(&budget, now);
	for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
		shares[i] = record_budget_share(&budget, ARRAY_LEN(shares) - i);
		record_budget_use(&budget, i == 1 ? 0 : shares[i]); /* the second needs nothing */
	}
	assert_int_equal(shares[0], SIDEBAND_RECORDS_BURST / 4);
	assert_int_equal(shares[2], SIDEBAND_RECORDS_BURST * 3 / 4 / 2);
	assert_true(shares[3] >= shares[2]);
	assert_int_equal(budget.left, 0);
}

RUN_TESTS(TEST(begins_with_a_burst_and_adds_no_more), TEST(what_is_used_is_back_after_its_time),
	  TEST(a_ring_leaves_the_others_their_share))
