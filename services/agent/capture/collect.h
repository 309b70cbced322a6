// SPDX-License-Identifier: Apache-2.0
/*
 * collect - builds a sample_set (profile/sample_set.h) from the samples of one interval.
 *
 * The set is in the arena of struct collect, with copies of all its texts: processes and
 * executables may be freed before the set is written. collect_begin() and collect_done() free the
 * set. Stacks are root first. The address of a native frame is an address in the ELF file, of the
 * call and not of the instruction after it. A kernel frame has only the function's name, so that
 * frames of one function are equal. Where frames are missing, the stack has a frame
 * `[truncated: REASON]` (profile/sample_set.h). No function fails. No I/O. Agent thread only.
 */
#pragma once

#include "agent/kernel/kernel_symbols.h"
#include "agent/labels/containers.h"
#include "agent/labels/series_budget.h"
#include "agent/process/process.h"
#include "bpf/sample.h"
#include "profile/sample_set.h"

struct collect_options {
	str node; /* the label "node"; borrowed until collect_done(), as `external` */
	struct labels external;
	uint64_t period_ns;            /* CPU time that one sample stands for */
	struct containers *containers; /* borrowed until collect_done(); NULL: names of containers
					  are unknown */
};

/* The least certain method among the steps of a walk. */
#define COLLECT_STEPS(ROW)                               \
	ROW(COLLECT_BY_TABLES, "tables")                 \
	ROW(COLLECT_BY_FRAME_POINTERS, "frame_pointers") \
	ROW(COLLECT_BY_GUESS, "guess")

enum collect_step { COLLECT_STEPS(NAMED_CONSTANT) COLLECT_STEP_COUNT };
extern const char *const collect_step_names[COLLECT_STEP_COUNT];

struct collect {
	struct sample_set set;       /* the interval so far */
	uint64_t unmapped;           /* cumulative: samples whose user leaf lies in no mapping */
	uint64_t truncated_unmapped; /* cumulative: stacks truncated at an address in no mapping */
	uint64_t ends_of_shipped[USER_END_COUNT]; /* cumulative: of walks of shipped stacks */
	uint64_t steps[COLLECT_STEP_COUNT];       /* cumulative: of user stacks */
	/* cumulative: samples with labels that became `other`, by class of the owner */
	uint64_t of_other_series[OWNER_CLASS_COUNT];
	/* private */
	struct series_budget series;
	struct arena arena, scratch;
	struct map texts; /* of the interval: where each is in the arena */
	struct collect_options options;
	int64_t unix_offset_ns; /* from CLOCK_MONOTONIC to Unix time */
};

/* Begins an empty interval whose offset is 0. Copies `options`, but not the texts in `options`. The
 * caller closes with collect_done(), which accepts a zeroed struct. */
void collect_init(struct collect *collect, const struct collect_options *options);

/* Frees the set and all memory. Accepts a zeroed struct. */
void collect_done(struct collect *collect);

/* Frees the set and begins the next interval with an empty set. `unix_offset_ns` is added to the
 * CLOCK_MONOTONIC times of all samples of the interval. The cumulative counters continue. */
void collect_begin(struct collect *collect, int64_t unix_offset_ns);

/* Adds a sample. Copies what it keeps. If `process` is NULL or incomplete, the sample is added with
 * fewer labels and without files. Sets `sampled_ns` of the executables in the stack. */
void collect_sample(struct collect *collect, const struct sample_record *record,
		    const struct process *process, struct kernel_symbols *kernel);
