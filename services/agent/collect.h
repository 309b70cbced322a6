// SPDX-License-Identifier: Apache-2.0
/*
 * collect - the samples of one interval become a sample_set. Pure.
 *
 * The set owns all it says: processes and executables may be forgotten before it is written. Frames
 * are root first; a native frame's address is the one in the ELF file, of the call and not of what
 * follows it; a kernel frame is its function's name alone, so that equal functions are equal.
 */
#pragma once

#include "containers.h"
#include "kernel_symbols.h"
#include "process.h"
#include "profile/sample_set.h"
#include "sample.h"

struct collect_options {
	str node;
	struct labels external;
	uint64_t period_ns;            /* what one tick counts */
	struct containers *containers; /* NULL: nobody knows their names */
};

/* The least certain step of a stack's walk. */
enum collect_step {
	COLLECT_BY_TABLES,
	COLLECT_BY_FRAME_POINTERS,
	COLLECT_BY_GUESS,
	COLLECT_STEP_COUNT
};
extern const char *const collect_step_names[COLLECT_STEP_COUNT];

struct collect {
	struct sample_set set; /* the interval so far */
	uint64_t unmapped;     /* cumulative: samples whose user leaf lies in no mapping */
	uint64_t cut_unmapped; /* cumulative: whose walk left the mappings and was cut there */
	uint64_t ends_of_shipped[USER_END_COUNT]; /* cumulative: of stacks that travelled */
	uint64_t steps[COLLECT_STEP_COUNT];       /* cumulative: of user stacks */
	/* private */
	struct arena arena;
	struct collect_options options;
	int64_t unix_offset_ns; /* from CLOCK_MONOTONIC to Unix time */
};

void collect_init(struct collect *collect, const struct collect_options *options);
void collect_done(struct collect *collect);

/* Begin the next interval; the set so far is gone. One offset holds for all of it. */
void collect_begin(struct collect *collect, int64_t unix_offset_ns);

/* `process` may be NULL or know little: the sample is kept in any case. */
void collect_sample(struct collect *collect, const struct sample_record *record,
		    const struct process *process, struct kernel_symbols *kernel);
