// SPDX-License-Identifier: Apache-2.0
/*
 * batch - encodes the samples of an interval into numbered messages in the spool, with the agent's
 * status.
 *
 * A sample set is split into messages of at most BATCH_BYTES. The status in each message counts
 * from the beginning of the spool's epoch, over restarts: counting continues from the last status
 * of the previous agent process (the predecessor). `sampled` of the status is the samples that were
 * put into the spool plus the samples that were lost, so sampled = stored + lost holds at every
 * batch. Samples that the predecessor counted and did not report are added by
 * batch_writer_add_unreported(). An interval that has losses to report and no samples is a batch,
 * too. Agent thread only.
 */
#pragma once

#include "agent/capture/counts.h"
#include "agent/capture/profiler.h"
#include "agent/spool/spool.h"
#include "wire/status.h"

struct batch_writer {
	uint64_t batches, samples, bytes; /* cumulative: put into the spool */
	uint64_t lost;                    /* samples lost because spool_put() failed */
	/* private */
	struct spool *spool;
	struct counts *counts;
	struct agent_status base;     /* of the predecessor's last batch */
	struct loss_counters carried; /* what predecessors had not reported */
	uint64_t reported;            /* `sampled` of the last batch */
	bool has_base;                /* false: the predecessor's status cannot be read */
	struct arena base_arena, arena;
	const char *node;
	uint64_t hz;
};

/* `node` and `counts` must outlive the writer. */
struct batch_options {
	const char *node;
	uint64_t hz;
	struct counts *counts; /* receives our losses, for the next agent process */
};

/* `spool` must be open and outlive the writer. If the predecessor's status cannot be decoded, logs
 * a warning and counts from 0. Cannot fail. */
void batch_writer_init(struct batch_writer *writer, struct spool *spool,
		       const struct batch_options *options);

/* Frees the memory. Accepts a zeroed struct. */
void batch_writer_done(struct batch_writer *writer);

/* The counters of the predecessor's last status. False, with *ret_reported unchanged: the status
 * could not be decoded. */
bool batch_writer_reported(const struct batch_writer *writer,
			   struct loss_counters *ret_reported) MUST_CHECK;

/*
 * Adds samples that predecessors counted and did not report to the next batch: by their loss
 * reason, or as agent_killed if they have none. Called at most once, before the first
 * batch_write().
 */
void batch_writer_add_unreported(struct batch_writer *writer,
				 const struct loss_counters *unreported);

/* Puts all samples of the set into the spool. Borrows its arguments during the call. Cannot fail:
 * samples that cannot be spooled are counted as lost, and the failure is logged. */
void batch_write(struct batch_writer *writer, const struct sample_set *set,
		 const struct profiler_counts *counts);

extern struct metric *const batch_metrics[];
