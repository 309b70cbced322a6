// SPDX-License-Identifier: Apache-2.0
/*
 * counts - the kernel's counts in a map that outlives the agent, and what a predecessor left
 * unreported.
 *
 * The map is pinned as BPFFS/decima_agent_DEV_INO, of the state directory's device and inode, so
 * that agents with a spool each have a pin each. It is a per-CPU array: first what the BPF program
 * counts (enum sampler_count), then what only agents read and write (enum counts_slot). All of it
 * only grows while the pin is there. A map that does not belong to this spool, as it is now, is
 * replaced by one that begins at 0, with the reason in the log.
 *
 *     reported      the spool's last status: all that went into it, or was lost, since the epoch
 * began baseline    what was reported when the map was at 0 counted   what the map says unreported
 * = baseline + counted - reported
 *
 * A successor books what is unreported in its first batch. Dies it before that, nothing has
 * changed: the next one finds it, and what came on top. Agent thread only.
 */
#pragma once

#include "base/err.h"
#include "loss_counters.h"
#include "sample.h"

enum counts_slot {
	COUNTS_SHAPE = SAMPLER_COUNT_COUNT, /* what the slots mean: another one is not read */
	COUNTS_EPOCH,                       /* of the spool */
	COUNTS_LOST,                        /* by enum loss_reason: what the agent itself loses */
	COUNTS_BASELINE_SAMPLED = COUNTS_LOST + LOSS_COUNT,
	COUNTS_BASELINE_LOST,
	COUNTS_SLOT_COUNT = COUNTS_BASELINE_LOST + LOSS_COUNT,
};

struct counts_options {
	const char *bpffs_directory, *state_directory;
	uint64_t epoch;
	bool is_reported_known; /* false: the spool's last status cannot be read */
	struct tally reported;  /* by it */
};

struct counts {
	bool is_pinned;
	int map_fd;              /* for the BPF program, if it is pinned */
	struct tally unreported; /* of predecessors, when this was opened */
	/* private */
	uint64_t lost[LOSS_COUNT]; /* as the map has it */
	uint64_t began[LOSS_COUNT];
};

/* Waits until no program of a predecessor counts any more. False: there is no pin. */
bool counts_open(struct counts *counts, const struct counts_options *options,
		 struct err *err) MUST_CHECK;
void counts_close(struct counts *counts); /* the pin stays */

/* What this agent itself has lost, for a successor: cumulative since it began. */
void counts_keep(struct counts *counts, const uint64_t lost[LOSS_COUNT]);

/* One slot, summed over the CPUs. */
bool counts_read(int map_fd, uint32_t slot, uint64_t *ret_sum) MUST_CHECK;
