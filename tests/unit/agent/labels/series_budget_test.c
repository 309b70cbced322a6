// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/labels/series_budget.h"
#include "base/clock.h"
#include "support/test.h"

#include <stdio.h>

static const uint64_t hour = 3600 * NS_PER_SECOND;

static struct series_budget budget;

/* Asks for `count` series from `first` on; returns how many are kept. */
static size_t kept(const char *owner, uint64_t first, size_t count, uint64_t now_ns)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += series_budget_admit(&budget, now_ns, str_from(owner), first + i) ==
			 SERIES_KEPT;
	return found;
}

static void an_owner_cannot_use_what_others_need(void **state)
{
	(void)state;
	assert_int_equal(kept("attacker", 0, SERIES_OF_OWNER_MAX + 1000, hour),
			 SERIES_OF_OWNER_MAX);
	assert_int_equal(series_budget_admit(&budget, hour, STR("attacker"), 1000000),
			 SERIES_OF_OWNER);
	assert_int_equal(kept("victim", 2000000, 100, hour), 100);
	series_budget_done(&budget);
}

static void a_known_series_is_kept(void **state)
{
	(void)state;
	(void)kept("attacker", 0, SERIES_OF_OWNER_MAX, hour);
	assert_int_equal(kept("attacker", 0, SERIES_OF_OWNER_MAX, hour + 1), SERIES_OF_OWNER_MAX);
	assert_int_equal(budget.series.len, SERIES_OF_OWNER_MAX);
	series_budget_done(&budget);
}

static void the_host_has_a_limit(void **state)
{
	static const char *const owners[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(owners); i++)
		found += kept(owners[i], i * 1000000, SERIES_OF_OWNER_MAX, hour);
	assert_true(ARRAY_LEN(owners) * SERIES_OF_OWNER_MAX > SERIES_MAX);
	assert_int_equal(found, SERIES_MAX);
	series_budget_done(&budget);
}

static void owners_are_bounded(void **state)
{
	char name[24];

	(void)state;
	for (uint64_t i = 0; i < SERIES_OWNERS_MAX; i++) {
		snprintf(name, sizeof(name), "unit-%d", (int)i);
		assert_int_equal(kept(name, i, 1, hour), 1);
	}
	assert_int_equal(series_budget_admit(&budget, hour, STR("one more"), 5000000),
			 SERIES_OF_HOST);
	assert_int_equal(series_budget_admit(&budget, hour, STR("one more"), 1), SERIES_KEPT);
	series_budget_done(&budget);
}

static void each_hour_begins_anew(void **state)
{
	(void)state;
	(void)kept("attacker", 0, SERIES_OF_OWNER_MAX, hour);
	assert_int_equal(kept("attacker", 5000000, 1, 2 * hour - 1), 0);
	assert_int_equal(kept("attacker", 5000000, 1, 2 * hour), 1);
	assert_int_equal(budget.series.len, 1);
	series_budget_done(&budget);
}

/* A deferred sample is older than those before it. */
static void an_older_sample_does_not_end_the_hour(void **state)
{
	(void)state;
	assert_int_equal(kept("attacker", 0, SERIES_OF_OWNER_MAX, 2 * hour), SERIES_OF_OWNER_MAX);
	assert_int_equal(kept("attacker", 5000000, 1, 2 * hour - 1), 0);
	assert_int_equal(budget.series.len, SERIES_OF_OWNER_MAX);
	series_budget_done(&budget);
}

RUN_TESTS(TEST(an_owner_cannot_use_what_others_need), TEST(a_known_series_is_kept),
	  TEST(the_host_has_a_limit), TEST(owners_are_bounded), TEST(each_hour_begins_anew),
	  TEST(an_older_sample_does_not_end_the_hour))
