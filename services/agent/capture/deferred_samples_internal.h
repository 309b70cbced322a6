// SPDX-License-Identifier: Apache-2.0
/*
 * deferred_samples - samples that wait for a file in their stack, or for its unwind table, in order
 * of arrival.
 *
 * A frame may lie in a file that is still being read, and a shipped stack may lead through a file
 * whose table is still being built. The sample is kept with
 * its process as it was at the tick: images are reference-counted and never changed while shared.
 * The sample is handed to the sink when the table is loaded or cannot be loaded, when
 * DEFERRED_MS_MAX has passed, or when the agent stops. A deferred sample counts neither as stored
 * nor as lost, like a sample in the timeline. If an owner has its share of DEFERRED_BYTES_MAX, the
 * caller must walk the stack at once with the tables that are loaded. A zeroed struct is valid and
 * empty; deferred_samples_done() frees the copies of the samples. No I/O. Agent thread only.
 */
#pragma once

#include "agent/process/process.h"
#include "bpf/sample.h"

enum deferred_end {
	DEFERRED_READ,      /* the file was read, or cannot be read */
	DEFERRED_LOADED,    /* the table is loaded */
	DEFERRED_NO_TABLE,  /* there will be no table */
	DEFERRED_TIMED_OUT, /* the wait took longer than DEFERRED_MS_MAX */
	DEFERRED_STOPPED,   /* the agent stops */
	DEFERRED_END_COUNT
};
extern const char *const deferred_end_names[DEFERRED_END_COUNT];

struct deferred_sample;

struct deferred_samples {
	size_t count, bytes; /* of the samples that wait now */
	/* Cumulative: samples that found no room; and waits by their end. A sample may wait several
	 * times, for one table after another. */
	uint64_t rejected, ends[DEFERRED_END_COUNT];
	/* private */
	struct shares shares; /* of DEFERRED_BYTES_MAX */
	struct deferred_sample *first, **last;
};

/* Receives a sample whose wait has ended, and the `since_ns` of its deferred_samples_add(). Record
 * and process are valid until the callback returns. */
struct deferred_sink {
	void (*sample)(void *self, const struct sample_record *record,
		       const struct process *process, uint64_t since_ns);
	void *self;
};

/*
 * Adds a sample. Copies the record and takes references to the images and the cgroup of the
 * process. `executable` is mapped by the process, and it is being read or its table is being
 * built; the references keep it alive. `since_ns`: CLOCK_MONOTONIC start of the first wait of this
 * sample. False: the owner of the process has its share of DEFERRED_BYTES_MAX; nothing is kept,
 * `rejected` counts it, and the caller must walk the stack at once.
 */
bool deferred_samples_add(struct deferred_samples *deferred, const struct sample_record *record,
			  const struct process *process, const struct executable *executable,
			  uint64_t since_ns);

/* True if a wait that began at since_ns has reached DEFERRED_MS_MAX. */
bool deferred_sample_is_overdue(uint64_t since_ns, uint64_t now_ns);

/* Hands each sample whose wait has ended to the sink, in order of arrival. The callback may call
 * deferred_samples_add() for the sample, to wait for another table. */
void deferred_samples_run(struct deferred_samples *deferred, uint64_t now_ns,
			  const struct deferred_sink *sink);

/* Hands all samples to the sink. The callback must not add a sample again. */
void deferred_samples_stop(struct deferred_samples *deferred, const struct deferred_sink *sink);

/* Frees all samples without a call of a sink. The struct is empty afterwards. */
void deferred_samples_done(struct deferred_samples *deferred);
