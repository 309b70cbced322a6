/*
 * batch - an interval's samples become numbered messages in the spool, with the agent's status.
 *
 * A set is cut into messages of at most BATCH_BYTES. The status that goes with each counts from the
 * spool's beginning, over restarts: what a predecessor said last is where we go on. `taken` is what
 * was put into the spool and what was lost, so the sum closes at every batch; what an agent that is
 * killed had taken and not yet spooled is in neither. Agent thread only.
 */
#pragma once

#include "profile/status.h"
#include "profiler.h"
#include "spool.h"

struct batch_writer {
	uint64_t batches, samples, bytes; /* cumulative: put into the spool */
	uint64_t lost;                    /* samples that the spool did not take */
	/* private */
	struct spool *spool;
	struct agent_status base; /* of the predecessor's last batch */
	struct arena base_arena, arena;
	const char *node;
	uint64_t hz;
};

struct batch_options {
	const char *node;
	uint64_t hz;
};

/* A predecessor's status that cannot be read is said in the log: counting begins at 0. */
void batch_writer_init(struct batch_writer *writer, struct spool *spool,
		       const struct batch_options *options);
void batch_writer_done(struct batch_writer *writer);

/* Put all samples of the set; what fails is logged and counted as lost. */
void batch_write(struct batch_writer *writer, const struct sample_set *set,
		 const struct profiler_counts *counts);

extern struct metric *const batch_metrics[];
extern const size_t batch_metric_count;
