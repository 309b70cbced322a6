// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/record_budget_internal.h"
#include "base/clock.h"

void record_budget_refill(struct record_budget *budget, uint64_t now_ns)
{
	uint64_t passed_ms = (now_ns - budget->refilled_ns) / NS_PER_MS;
	uint64_t left = budget->left + passed_ms * SIDEBAND_RECORDS_PER_SECOND / 1000;

	budget->left = left < SIDEBAND_RECORDS_BURST ? left : SIDEBAND_RECORDS_BURST;
	budget->refilled_ns += passed_ms * NS_PER_MS;
}
