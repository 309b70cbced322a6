// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/read_budget_internal.h"
#include "base/clock.h"

static const struct {
	uint64_t burst_ms, ms_per_second;
} buckets[READ_SIZE_COUNT] = {
	[READ_SMALL] = { PROC_SMALL_BURST_MS, PROC_SMALL_MS_PER_SECOND },
	[READ_LARGE] = { PROC_LARGE_BURST_MS, PROC_LARGE_MS_PER_SECOND },
};

/* Used time is forgotten in proportion, within the time that an empty bucket needs to fill. */
static void forget(struct read_use *use, enum read_size size, uint64_t ns)
{
	uint64_t fill_ns = buckets[size].burst_ms * NS_PER_SECOND / buckets[size].ms_per_second;

	use->cpu_ns -= ns < fill_ns ? (int64_t)((double)use->cpu_ns * (double)ns / (double)fill_ns)
				    : use->cpu_ns;
}

void read_budget_refill(struct read_budget *budget, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - budget->now_ns;

	budget->now_ns = now_ns;
	for (enum read_size i = 0; i < READ_SIZE_COUNT; i++) {
		token_bucket_refill(&budget->cpu_ns[i], buckets[i].ms_per_second * NS_PER_MS,
				    (int64_t)(buckets[i].burst_ms * NS_PER_MS), now_ns);
		for (size_t j = 0; j < READ_OWNERS_MAX; j++)
			forget(&budget->uses[i][j], i, passed_ns);
	}
}

static const struct read_use *find(const struct read_use *uses, struct share_owner owner)
{
	for (size_t i = 0; i < READ_OWNERS_MAX; i++)
		if (uses[i].cpu_ns && uses[i].owner == owner.id)
			return &uses[i];
	return NULL;
}

static bool has_share(const struct read_budget *budget, enum read_size size,
		      struct share_owner owner, int64_t part)
{
	const struct read_use *use = find(budget->uses[size], owner);

	return read_budget_is_open(budget, size) &&
	       (!use || use->cpu_ns <= budget->cpu_ns[size].tokens / part);
}

bool read_budget_allows(const struct read_budget *budget, enum read_size size,
			struct share_owner owner)
{
	return has_share(budget, size, owner, 1);
}

bool read_budget_allows_again(const struct read_budget *budget, enum read_size size,
			      struct share_owner owner)
{
	return has_share(budget, size, owner, 2);
}

bool read_budget_is_plenty(const struct read_budget *budget, enum read_size size)
{
	int64_t left_ns = budget->cpu_ns[size].tokens;

	for (size_t i = 0; i < READ_OWNERS_MAX; i++)
		if (budget->uses[size][i].cpu_ns > left_ns)
			return false;
	return left_ns >= (int64_t)(buckets[size].burst_ms * NS_PER_MS / 2);
}

/* The place of the owner, or that of the owner that used least. */
static struct read_use *place_of(struct read_use *uses, struct share_owner owner)
{
	struct read_use *least = &uses[0];

	for (size_t i = 0; i < READ_OWNERS_MAX; i++) {
		if (uses[i].cpu_ns && uses[i].owner == owner.id)
			return &uses[i];
		if (uses[i].cpu_ns < least->cpu_ns)
			least = &uses[i];
	}
	*least = (struct read_use){ .owner = owner.id };
	return least;
}

void read_budget_charge(struct read_budget *budget, enum read_size size, struct share_owner owner,
			uint64_t cpu_ns)
{
	budget->cpu_ns[size].tokens -= (int64_t)cpu_ns;
	place_of(budget->uses[size], owner)->cpu_ns += (int64_t)cpu_ns;
}
