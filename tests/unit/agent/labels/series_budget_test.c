// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/labels/series_budget.h"
#include "base/clock.h"
#include "support/test.h"

static const uint64_t hour = 3600 * NS_PER_SECOND;

static struct series_budget budget;
static const struct share_owner attacker = { .id = 1 }, victim = { .id = 2 };

static enum series_fate fate_of(struct share_owner owner, uint64_t series, uint64_t now_ns)
{
	return series_budget_knows(&budget, now_ns, series)
		       ? SERIES_KEPT
		       : series_budget_admit(&budget, owner, series);
}

/* Asks for `count` series from `first` on; returns how many are kept. */
static size_t kept(struct share_owner owner, uint64_t first, size_t count, uint64_t now_ns)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += fate_of(owner, first + i, now_ns) == SERIES_KEPT;
	return found;
}

static void an_owner_cannot_use_what_others_need(void **state)
{
	(void)state;
	assert_int_equal(kept(attacker, 0, SERIES_OF_OWNER_MAX + 1000, hour), SERIES_OF_OWNER_MAX);
	assert_int_equal(fate_of(attacker, 1000000, hour), SERIES_OF_OWNER);
	assert_int_equal(kept(victim, 2000000, 100, hour), 100);
	series_budget_done(&budget);
}

static void a_known_series_is_kept(void **state)
{
	(void)state;
	(void)kept(attacker, 0, SERIES_OF_OWNER_MAX, hour);
	assert_int_equal(kept(attacker, 0, SERIES_OF_OWNER_MAX, hour + 1), SERIES_OF_OWNER_MAX);
	assert_int_equal(budget.series.len, SERIES_OF_OWNER_MAX);
	series_budget_done(&budget);
}

static void greedy_owners_leave_a_share_for_others(void **state)
{
	enum { OWNERS = 8 };
	size_t found = 0;

	(void)state;
	for (uint64_t i = 0; i < OWNERS; i++)
		found += kept((struct share_owner){ .id = 10 + i }, i * 1000000,
			      SERIES_OF_OWNER_MAX, hour);
	assert_true(OWNERS * SERIES_OF_OWNER_MAX > SERIES_MAX);
	assert_in_range(found, SERIES_MAX * 4 / 5, SERIES_MAX - 50);
	assert_int_equal(kept(victim, 50000000, 20, hour), 20);
	series_budget_done(&budget);
}

static void all_owners_together_have_a_limit(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < SERIES_MAX - 1; i++)
		assert_int_equal(kept((struct share_owner){ .id = 10 + i }, i, 1, hour), 1);
	assert_int_equal(fate_of(victim, 5000000, hour), SERIES_OF_HOST);
	assert_int_equal(fate_of(victim, 1, hour), SERIES_KEPT);
	series_budget_done(&budget);
}

static void each_hour_begins_anew(void **state)
{
	(void)state;
	(void)kept(attacker, 0, SERIES_OF_OWNER_MAX, hour);
	assert_int_equal(kept(attacker, 5000000, 1, 2 * hour - 1), 0);
	assert_int_equal(kept(attacker, 5000000, 1, 2 * hour), 1);
	assert_int_equal(budget.series.len, 1);
	series_budget_done(&budget);
}

/* A deferred sample is older than those before it. */
static void an_older_sample_does_not_end_the_hour(void **state)
{
	(void)state;
	assert_int_equal(kept(attacker, 0, SERIES_OF_OWNER_MAX, 2 * hour), SERIES_OF_OWNER_MAX);
	assert_int_equal(kept(attacker, 5000000, 1, 2 * hour - 1), 0);
	assert_int_equal(budget.series.len, SERIES_OF_OWNER_MAX);
	series_budget_done(&budget);
}

RUN_TESTS(TEST(an_owner_cannot_use_what_others_need), TEST(a_known_series_is_kept),
	  TEST(greedy_owners_leave_a_share_for_others), TEST(all_owners_together_have_a_limit),
	  TEST(each_hour_begins_anew), TEST(an_older_sample_does_not_end_the_hour))
