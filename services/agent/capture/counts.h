// SPDX-License-Identifier: Apache-2.0
/*
 * counts - the counters of samples in a BPF map that outlives the agent, and the samples that a
 * killed predecessor did not report.
 *
 * The map is pinned (kept alive by a file in the bpffs) as BPFFS/decima_agent_DEV_INO, with device
 * and inode of the state directory, so each agent with its own spool has its own pin. It is a
 * per-CPU array: first the counters of the BPF program (enum sampler_count), then slots that only
 * agents read and write (enum counts_slot). Counters only grow while the pin exists. If the map
 * does not belong to the present spool, it is replaced by a new map that begins at 0, and the
 * reason is logged.
 *
 *     reported    by the spool's last status: samples spooled or lost since the epoch began
 *     baseline    the value of `reported` when the map was at 0
 *     counted     the values in the map
 *     unreported  = baseline + counted - reported
 *
 * A successor accounts for unreported samples in its first batch. If it dies before that, nothing
 * has changed: the next agent computes the same difference, plus what was counted since. Agent
 * thread only.
 */
#pragma once

#include "agent/capture/loss_counters.h"
#include "base/err.h"
#include "bpf/sample.h"

enum counts_slot {
	COUNTS_SHAPE = SAMPLER_COUNT_COUNT, /* layout version: a map of another one is not read */
	COUNTS_EPOCH,                       /* the epoch of the spool that the counters belong to */
	COUNTS_LOST, /* LOSS_COUNT slots, by enum loss_reason: losses that the agent counts */
	COUNTS_BASELINE_SAMPLED = COUNTS_LOST + LOSS_COUNT,
	COUNTS_BASELINE_LOST,
	COUNTS_SLOT_COUNT = COUNTS_BASELINE_LOST + LOSS_COUNT,
};

struct counts_options {
	/* Borrowed during counts_open() only. */
	const char *bpffs_directory, *state_directory;
	uint64_t epoch;
	bool is_reported_known;        /* false: the spool's last status cannot be read */
	struct loss_counters reported; /* the counters in that status */
};

struct counts {
	bool is_pinned;
	int map_fd;                      /* for the BPF program, if is_pinned */
	struct loss_counters unreported; /* by predecessors, computed by counts_open() */
	/* private */
	uint64_t lost[LOSS_COUNT];  /* the values in the map */
	uint64_t began[LOSS_COUNT]; /* the values in the map at counts_open() */
};

/*
 * Opens or creates the pinned map, and mounts the bpffs if necessary. First waits, at most
 * DETACH_WAIT_MS, until no program of a predecessor counts in the map. False, with is_pinned false:
 * the counters are not pinned. The error is for the log: the agent may run without pinned counters.
 * Then a successor cannot account for losses of a killed agent.
 */
bool counts_open(struct counts *counts, const struct counts_options *options,
		 struct err *err) MUST_CHECK;

/* Closes the map's descriptor. The pin stays, for a successor. Accepts a zeroed struct. */
void counts_close(struct counts *counts);

/*
 * Saves in the map, for a successor, the losses that the agent has counted since counts_open().
 * Does nothing if the counters are not pinned. A failure is logged, and the next call tries again.
 */
void counts_save(struct counts *counts, const uint64_t lost[LOSS_COUNT]);

/* Reads one slot, summed over the CPUs. False, with errno: the slot cannot be read. */
bool counts_read(int map_fd, uint32_t slot, uint64_t *ret_sum) MUST_CHECK;
