// SPDX-License-Identifier: Apache-2.0
/*
 * deferred - samples whose stack cannot be walked before a table is there, in the order they came.
 *
 * A stack that travelled may lead through a file whose table is still being built. The sample is
 * kept with its process as it was at the tick (an image that is shared is never changed), and comes
 * back when that table is loaded or will not be, when it has waited for long enough, or when the
 * agent ends. It has been neither stored nor lost meanwhile, as what waits in the timeline. Bounded
 * in bytes and in time: what there is no room for is walked at once, with what there is. Pure.
 */
#pragma once

#include "process.h"
#include "sample.h"

enum deferred_end {
	DEFERRED_LOADED,    /* the table is there */
	DEFERRED_NO_TABLE,  /* it could not be had */
	DEFERRED_TIMED_OUT, /* it took too long */
	DEFERRED_STOPPED,   /* the agent ends */
	DEFERRED_END_COUNT
};
extern const char *const deferred_end_names[DEFERRED_END_COUNT];

struct deferred_sample;

struct deferred_samples {
	size_t count, bytes; /* that are deferred now */
	/* cumulative: no room; waits by how they ended, of which a sample may have several */
	uint64_t refused, ends[DEFERRED_END_COUNT];
	/* private */
	struct deferred_sample *first, **last;
};

/* What comes back: the process lives until the call returns. */
struct deferred_sink {
	void (*sample)(void *self, const struct sample_record *record,
		       const struct process *process, uint64_t since_ns);
	void *self;
};

/*
 * Copies what it is given. `executable` is mapped by the process, and its table on its way.
 * `since_ns`: when the first wait of this sample began. False: there is no room.
 */
bool deferred_samples_add(struct deferred_samples *deferred, const struct sample_record *record,
			  const struct process *process, const struct executable *executable,
			  uint64_t since_ns);

/* Whether a wait that began then should end, whatever it waits for. */
bool deferred_sample_is_overdue(uint64_t since_ns, uint64_t now_ns);

/* Gives back what need not wait any more; it may be deferred again, for another table. */
void deferred_samples_run(struct deferred_samples *deferred, uint64_t now_ns,
			  const struct deferred_sink *sink);

/* Gives back all. */
void deferred_samples_stop(struct deferred_samples *deferred, const struct deferred_sink *sink);

/* Forgets what is left. */
void deferred_samples_done(struct deferred_samples *deferred);
