// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/series_budget.h"

#include "agent/agent_limits.h"
#include "base/clock.h"

#define HOUR_NS (3600 * NS_PER_SECOND)

void series_budget_done(struct series_budget *budget)
{
	index_done(&budget->series);
	shares_done(&budget->owners);
	*budget = (struct series_budget){ 0 };
}

static uint64_t hash_of(uint64_t series)
{
	return hash_seeded_u64(series, hash_seed());
}

bool series_budget_knows(struct series_budget *budget, uint64_t now_ns, uint64_t series)
{
	/* A deferred sample may be older than the hour. */
	if (now_ns >= budget->began_ns + HOUR_NS) {
		series_budget_done(budget);
		budget->began_ns = now_ns;
	}
	return index_find(&budget->series, hash_of(series), each, each == series);
}

enum series_fate series_budget_admit(struct series_budget *budget, struct share_owner owner,
				     uint64_t series)
{
	uint64_t held = shares_held_by(&budget->owners, owner);

	budget->owners.size = SERIES_MAX;
	if (held >= SERIES_OF_OWNER_MAX || !shares_take(&budget->owners, owner, 1))
		return held ? SERIES_OF_OWNER : SERIES_OF_HOST;
	*index_at(NULL, &budget->series, hash_of(series), each, each == series) = series;
	return SERIES_KEPT;
}
