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

void read_budget_refill(struct read_budget *budget, uint64_t now_ns)
{
	budget->now_ns = now_ns;
	for (size_t i = 0; i < READ_SIZE_COUNT; i++)
		token_bucket_refill(&budget->cpu_ns[i], buckets[i].ms_per_second * NS_PER_MS,
				    (int64_t)(buckets[i].burst_ms * NS_PER_MS), now_ns);
}
