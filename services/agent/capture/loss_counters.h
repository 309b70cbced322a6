// SPDX-License-Identifier: Apache-2.0
/*
 * loss_counters - the number of samples that the kernel made, and of those lost before the spool,
 * by reason.
 *
 * Counters outlive the agent in two places: in a pinned BPF map ("agent/capture/counts.h") and in
 * the spool's last status. The counters of the map minus the counters of the status are unreported.
 * Unreported samples without a reason of their own were in the memory of an agent that was killed.
 * Pure: no I/O, any thread.
 */
#pragma once

#include "base/base.h"

/* The names are the reasons in AgentStatus.lost. */
enum loss_reason {
	LOSS_RING_FULL,     /* the kernel found no room in the ring of samples */
	LOSS_TIMELINE_FULL, /* the memory limit of the timeline was reached */
	LOSS_MALFORMED,     /* a record that contradicts itself */
	LOSS_IN_PROFILER_COUNT,
	LOSS_SPOOL_WRITE = LOSS_IN_PROFILER_COUNT, /* the spool could not be written */
	LOSS_COUNT,
};
extern const char *const loss_names[LOSS_COUNT];

/* The reason that a successor reports for lost samples without a reason. No agent counts losses of
 * this reason in its own counters. */
#define LOSS_AGENT_KILLED "agent_killed"

struct loss_counters {
	uint64_t sampled, lost[LOSS_COUNT];
};

/*
 * Computes *ret_unreported = baseline + counted - reported. `baseline`: the reported values at the
 * moment when the counters were at 0. False, with *ret_unreported unchanged: a difference would be
 * negative, or a sum overflows. Then another agent has reported in between, and the counters do not
 * match the status any more.
 */
bool loss_counters_unreported(const struct loss_counters *baseline,
			      const struct loss_counters *counted,
			      const struct loss_counters *reported,
			      struct loss_counters *ret_unreported) MUST_CHECK;

/* The losses without a reason: sampled minus the sum of lost. The sum must be at most `sampled`;
 * loss_counters_unreported() ensures this. */
uint64_t loss_counters_unexplained(const struct loss_counters *loss_counters);
