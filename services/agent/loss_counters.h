// SPDX-License-Identifier: Apache-2.0
/*
 * tally - samples taken, and those of them that were lost before the spool, by reason.
 *
 * Counts live longer than the agent: in a map of the kernel (counts.h) and in what the spool's last
 * status reported. What the first holds beyond the second is unreported; what is unreported and has
 * no reason of its own was in the memory of an agent that was killed. Pure.
 */
#pragma once

#include "base/base.h"

/* The names are reasons of AgentStatus.lost. */
enum loss_reason {
	LOSS_RING_FULL,     /* the kernel found no room in the ring of samples */
	LOSS_TIMELINE_FULL, /* more waited for its turn than may be held */
	LOSS_MALFORMED,     /* a record that contradicts itself */
	LOSS_IN_PROFILER_COUNT,
	LOSS_SPOOL_WRITE = LOSS_IN_PROFILER_COUNT, /* the spool could not be written */
	LOSS_COUNT,
};
extern const char *const loss_names[LOSS_COUNT];

#define LOSS_AGENT_KILLED "agent_killed" /* what a successor calls the rest: no agent counts it */

struct tally {
	uint64_t taken, lost[LOSS_COUNT];
};

/*
 * What was counted since the baseline and is not reported. `baseline` is what was reported when the
 * count began at 0. False: more was reported than counted, so somebody else has reported in
 * between, and the two do not belong together any more.
 */
bool loss_counters_unreported(const struct tally *baseline, const struct tally *counted,
			      const struct tally *reported,
			      struct tally *ret_unreported) MUST_CHECK;

/* Of what was taken, that which no reason explains. Lost is at most taken. */
uint64_t tally_rest(const struct tally *tally);
