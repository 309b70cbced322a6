// SPDX-License-Identifier: Apache-2.0
/*
 * read_budget - how much CPU time may be used to read /proc.
 *
 * Any user can start processes, and can make /proc/PID/maps long. So each reading is charged with
 * the CPU time that it took, and there is a bucket of time for each size: processes with very many
 * mappings cannot use the time that all others share. A bucket may be overdrawn by one reading; it
 * is closed until it is paid for. A zeroed struct is valid: its buckets fill at the first refill.
 * Pure. Agent thread only.
 */
#pragma once

#include "base/token_bucket.h"

enum read_size {
	READ_SMALL, /* at most PROC_MAPS_SMALL_BYTES, as nearly all processes */
	READ_LARGE,
	READ_SIZE_COUNT
};

struct read_budget {
	struct token_bucket cpu_ns[READ_SIZE_COUNT];
	uint64_t now_ns; /* of the last refill, CLOCK_MONOTONIC */
};

/* Called in each round: adds what the time since the last call allows, up to a burst. */
void read_budget_refill(struct read_budget *budget, uint64_t now_ns);

/* True if a reading of this size may begin. */
static inline bool read_budget_is_open(const struct read_budget *budget, enum read_size size)
{
	return budget->cpu_ns[size].tokens > 0;
}

static inline void read_budget_charge(struct read_budget *budget, enum read_size size,
				      uint64_t cpu_ns)
{
	budget->cpu_ns[size].tokens -= (int64_t)cpu_ns;
}
