// SPDX-License-Identifier: Apache-2.0
/*
 * read_budget - how much CPU time may be used to read /proc.
 *
 * Any user can start processes, and can make /proc/PID/maps long. So each reading is charged with
 * the CPU time that it took, and there is a bucket of time for each size: processes with very many
 * mappings cannot use the time that all others share. A bucket may be overdrawn by one reading; it
 * is closed until it is paid for.
 *
 * In each bucket, owners of processes have shares, by the rule of base/shares.h: an owner may read
 * while the time that it used lately is at most the time that is left. One owner alone uses all
 * time, but never takes the last half of a burst at once; N greedy owners get equal parts, and an
 * owner that used nothing lately finds time left. Used time is forgotten as fast as a bucket fills.
 *
 * A zeroed struct is valid: its buckets fill at the first refill. Pure. Agent thread only.
 */
#pragma once

#include "base/shares.h"
#include "base/token_bucket.h"

enum read_size {
	READ_SMALL, /* at most PROC_MAPS_SMALL_BYTES, as nearly all processes */
	READ_LARGE,
	READ_SIZE_COUNT
};

/* private */
struct read_use {
	uint64_t owner;
	int64_t cpu_ns; /* used lately; 0: a free place */
};

/* If more owners than these use time, the one that used least is taken for one that used none. */
enum { READ_OWNERS_MAX = 16 };

struct read_budget {
	struct token_bucket cpu_ns[READ_SIZE_COUNT];
	uint64_t now_ns; /* of the last refill, CLOCK_MONOTONIC */
	/* private */
	struct read_use uses[READ_SIZE_COUNT][READ_OWNERS_MAX];
};

/* Called in each round: adds what the time since the last call allows, up to a burst. */
void read_budget_refill(struct read_budget *budget, uint64_t now_ns);

/* True if there is time for a reading of this size, for some owner. */
static inline bool read_budget_is_open(const struct read_budget *budget, enum read_size size)
{
	return budget->cpu_ns[size].tokens > 0;
}

/* True if a reading of this size may begin, of a process of this owner. */
bool read_budget_allows(const struct read_budget *budget, enum read_size size,
			struct share_owner owner);

/* The same for a process whose mappings are known but may have changed. Its owner uses at most half
 * of the time for such processes, so that new ones do not wait for them. */
bool read_budget_allows_again(const struct read_budget *budget, enum read_size size,
			      struct share_owner owner);

/* True if half of a burst is left and each owner may read: time that no sampled process needs now.
 */
bool read_budget_is_plenty(const struct read_budget *budget, enum read_size size);

void read_budget_charge(struct read_budget *budget, enum read_size size, struct share_owner owner,
			uint64_t cpu_ns);
