// SPDX-License-Identifier: Apache-2.0
/*
 * profiler - turns the kernel's ticks into a sample_set, on one thread.
 *
 * The caller calls profiler_drain() a few times a second. It reads all rings and processes records
 * in order of time: sideband events update the process table, samples are resolved against it. Only
 * records from before the start of the previous round are processed, because only these are known
 * to be complete. A sample whose stack needs an unwind table that is still being built is deferred
 * ("agent/capture/deferred_samples_internal.h"). Once per interval the caller writes `collect.set`,
 * then calls profiler_next_interval(). Agent thread only. The struct owns all its parts and must
 * not move between open and close.
 */
#pragma once

#include "agent/capture/collect.h"
#include "agent/capture/deferred_samples_internal.h"
#include "agent/capture/loss_counters.h"
#include "agent/capture/sampler_internal.h"
#include "agent/capture/sideband_internal.h"
#include "agent/capture/timeline_internal.h"
#include "agent/unwind/stack_walk.h"
#include "agent/unwind/unwind_loader.h"

enum profiler_truncation {
	TRUNCATED_KERNEL, /* the kernel part of the stack is too deep */
	TRUNCATED_USER,   /* first of the reasons of user stacks, in the order of enum user_end */
	TRUNCATED_UNMAPPED = TRUNCATED_USER + USER_END_COUNT - USER_END_TOO_DEEP,
	TRUNCATED_COUNT
};
extern const char *const profiler_truncation_names[TRUNCATED_COUNT];

/*
 * All counters are cumulative since profiler_open(). loss_counters.sampled is the sum of
 * loss_counters.lost, of the samples that entered sample sets, and of the samples that are still in
 * the profiler. Losses after the sample set are not counted here.
 */
struct profiler_counts {
	struct loss_counters loss_counters;
	uint64_t truncated[TRUNCATED_COUNT];
	uint64_t stacks_shipped, stacks_not_shipped; /* stacks that the BPF walk could not finish */
};

/* Everything that the options point to must outlive the profiler. */
struct profiler_options {
	uint64_t hz; /* samples per second and CPU */
	str node;
	struct labels external;
	const struct counts *counts;        /* as in sampler_options */
	struct containers *containers;      /* as in collect_options */
	struct executable_source files;     /* reads the files that processes map */
	struct executable_sink executables; /* the upload sink; .offer NULL: unused */
	uint64_t unwind_max_bytes; /* kernel memory of unwind tables and lists of mappings */
	struct unwind_builder_options unwind;
};

struct profiler {
	struct sampler sampler;
	struct sideband sideband;
	struct process_table processes;
	struct kernel_symbols kernel;
	struct collect collect;
	struct unwind_loader unwind;
	struct deferred_samples deferred;
	/* private */
	struct timeline timeline;
	struct stack_walk stack_walk;
	struct arena arena; /* the list of CPUs */
	uint32_t *cpus;
	size_t cpu_count;
	uint64_t round_ns;  /* start of the previous round */
	bool is_ending;     /* samples are not deferred any more */
	bool is_pressed;    /* the next round comes soon */
	uint64_t lost_seen; /* number of lost sideband records that are known to the process table
			     */
	int rounds_after_loss;
	bool has_lost; /* since swept_ms */
	uint64_t swept_ms;
};

/*
 * Loads the BPF program, reads which processes run, and starts sampling. On failure everything is
 * closed again. ERR_INVALID: the agent is in a pid namespace of its own, or the verifier rejects
 * the program. ERR_NOT_FOUND: the kernel has no BTF. If BPF or perf events are not permitted, the
 * error names the likely reason ("agent/kernel/kernel_check.h").
 */
bool profiler_open(struct profiler *profiler, const struct profiler_options *options,
		   struct err *err) MUST_CHECK;

/* Stops sampling and frees everything, also `collect.set`. Accepts a zeroed struct. Samples that
 * are not collected yet are dropped without a count: call profiler_finish() first. */
void profiler_close(struct profiler *profiler);

/*
 * One round: reads all rings and processes the complete records. Cannot fail; losses are counted.
 */
void profiler_drain(struct profiler *profiler);

/* The pause until the next round in milliseconds: shorter while the sideband rings fill fast. */
uint64_t profiler_pause_ms(const struct profiler *profiler);

/*
 * Called once, before the last set is written: stops sampling and processes all remaining records,
 * also deferred samples. The samples are in `collect.set` afterwards. The caller still calls
 * profiler_close().
 */
void profiler_finish(struct profiler *profiler);

/*
 * Begins the next interval with an empty `collect.set`; the caller has written the previous set.
 * Also adapts to changes of CPUs, kernel modules and processes. If a CPU cannot be sampled, a
 * warning is logged and the next call tries again.
 */
void profiler_next_interval(struct profiler *profiler);

/* Reads the present counters. Cannot fail: a counter that cannot be read keeps its last value. */
struct profiler_counts profiler_counts_get(struct profiler *profiler);
