// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/series_budget.h"

#include "agent/agent_limits.h"
#include "base/clock.h"

#define HOUR_NS (3600 * NS_PER_SECOND)

void series_budget_done(struct series_budget *budget)
{
	struct series_budget old = *budget;

	*budget = (struct series_budget){ 0 };
	index_done(&old.series);
	index_done(&old.owners);
}

/* NULL: there are too many owners. */
static struct series_owner *find_owner(struct series_budget *budget, str name)
{
	uint64_t id = hash_seeded(name, hash_seed());
	struct series_owner *found = index_find(&budget->owners, id, each, each.id == id);

	if (found || budget->owners.len >= SERIES_OWNERS_MAX)
		return found;
	found = index_at(NULL, &budget->owners, id, each, each.id == id);
	found->id = id;
	return found;
}

enum series_fate series_budget_admit(struct series_budget *budget, uint64_t now_ns, str owner,
				     uint64_t series)
{
	uint64_t hash = hash_seeded_u64(series, hash_seed());

	/* A deferred sample may be older than the hour. */
	if (now_ns >= budget->began_ns + HOUR_NS) {
		series_budget_done(budget);
		budget->began_ns = now_ns;
	}
	if (index_find(&budget->series, hash, each, each == series))
		return SERIES_KEPT;

	struct series_owner *maker = find_owner(budget, owner);

	if (!maker)
		return SERIES_OF_HOST;
	if (maker->series >= SERIES_OF_OWNER_MAX || budget->series.len >= SERIES_MAX)
		return SERIES_OF_OWNER;
	maker->series++;
	*index_at(NULL, &budget->series, hash, each, each == series) = series;
	return SERIES_KEPT;
}
