// SPDX-License-Identifier: Apache-2.0
/*
 * record_budget - how many sideband records are read in a second.
 *
 * Any user can cause records faster than the agent can process them. Records beyond the budget are
 * skipped unread, as if the ring had overflowed. Each ring has a share, so that the processes of
 * one CPU do not use what those of others need. A zeroed struct is valid and full at the first
 * refill. Pure. Agent thread only.
 */
#pragma once

#include "base/base.h"

struct record_budget {
	uint64_t left;
	uint64_t refilled_ns; /* CLOCK_MONOTONIC */
};

/* Called before each drain: adds what the time since the last call allows, up to a burst. */
void record_budget_refill(struct record_budget *budget, uint64_t now_ns);

/* How many records the next ring may use; `rings`: it and the rings that follow. */
static inline uint64_t record_budget_share(const struct record_budget *budget, size_t rings)
{
	return budget->left / rings;
}

/* A ring has used at most its share. */
static inline void record_budget_use(struct record_budget *budget, uint64_t records)
{
	budget->left -= records;
}
