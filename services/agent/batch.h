// SPDX-License-Identifier: Apache-2.0
/*
 * batch - an interval's samples become numbered messages in the spool, with the agent's status.
 *
 * A set is cut into messages of at most BATCH_BYTES. The status that goes with each counts from the
 * spool's beginning, over restarts: what a predecessor told last is where we go on. `taken` is what
 * was put into the spool and what was lost, so the sum closes at every batch; what a predecessor
 * had taken and not told is booked by batch_writer_book(). An interval that has losses to tell and
 * no samples is a batch too. Agent thread only.
 */
#pragma once

#include "counts.h"
#include "profile/status.h"
#include "profiler.h"
#include "spool.h"

struct batch_writer {
	uint64_t batches, samples, bytes; /* cumulative: put into the spool */
	uint64_t lost;                    /* samples that the spool did not take */
	/* private */
	struct spool *spool;
	struct counts *counts;
	struct agent_status base; /* of the predecessor's last batch */
	struct tally carried;     /* what predecessors had not told */
	uint64_t reported;        /* `taken` of the last batch */
	bool has_base;            /* false: the predecessor's status cannot be read */
	struct arena base_arena, arena;
	const char *node;
	uint64_t hz;
};

struct batch_options {
	const char *node;
	uint64_t hz;
	struct counts *counts; /* keeps what is lost here for a successor */
};

/* A predecessor's status that cannot be read is said in the log: counting begins at 0. */
void batch_writer_init(struct batch_writer *writer, struct spool *spool,
		       const struct batch_options *options);
void batch_writer_done(struct batch_writer *writer);

/* What the predecessor's last batch told. False: it cannot be read. */
bool batch_writer_told(const struct batch_writer *writer, struct tally *ret_told) MUST_CHECK;

/* What predecessors had taken and not told goes into the next batch: named, or as agent_killed. */
void batch_writer_book(struct batch_writer *writer, const struct tally *untold);

/* Put all samples of the set; what fails is logged and counted as lost. */
void batch_write(struct batch_writer *writer, const struct sample_set *set,
		 const struct profiler_counts *counts);

extern struct metric *const batch_metrics[];
extern const size_t batch_metric_count;
