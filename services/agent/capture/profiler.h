// SPDX-License-Identifier: Apache-2.0
/*
 * profiler - turns the kernel's ticks into a sample_set, on one thread.
 *
 * A few times a second profiler_drain() reads all rings and processes records in order of time:
 * sideband events update the process table, samples are resolved against it. Only records from
 * before the start of the previous round are processed, because only these are surely complete. A
 * sample whose stack needs an unwind table that is still being built is deferred
 * (deferred_samples.h). Once per interval the caller writes `collect.set`, then calls
 * profiler_next_interval(). Agent thread only; the profiler owns all its parts.
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
	TRUNCATED_KERNEL, /* then the reasons of user stacks, in the order of enum user_end */
	TRUNCATED_USER,
	TRUNCATED_UNMAPPED = TRUNCATED_USER + USER_END_COUNT - USER_END_TOO_DEEP,
	TRUNCATED_COUNT
};
extern const char *const profiler_truncation_names[TRUNCATED_COUNT];

/*
 * All cumulative since profiler_open(). loss_counters.sampled = loss_counters.lost + samples that
 * are in sample sets or on the way to one. Losses after the sample set are not counted here.
 */
struct profiler_counts {
	struct loss_counters loss_counters;
	uint64_t truncated[TRUNCATED_COUNT];
	uint64_t stacks_shipped, stacks_not_shipped; /* stacks that the BPF walk could not finish */
};

struct profiler_options {
	uint64_t hz;
	str node;
	struct labels external;
	const struct counts *counts;        /* as in sampler_options */
	struct containers *containers;      /* as in collect_options */
	struct executable_sink executables; /* is offered each executable; .offer NULL: unused */
	uint64_t unwind_max_bytes;
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
	uint64_t lost_seen; /* number of lost sideband records when /proc was last read */
	uint64_t scanned_ms, swept_ms;
};

/*
 * Loads the BPF program, reads which processes run, and starts sampling. ERR_INVALID if the agent
 * is in a pid namespace of its own. If BPF or perf events are not permitted, the error names the
 * likely reason (kernel_check.h).
 */
bool profiler_open(struct profiler *profiler, const struct profiler_options *options,
		   struct err *err) MUST_CHECK;
void profiler_close(struct profiler *profiler);

/* One round: reads all rings and processes the complete records. */
void profiler_drain(struct profiler *profiler);

/* The pause until the next round: shorter while the sideband rings fill fast. */
uint64_t profiler_pause_ms(const struct profiler *profiler);

/* At the end: stops sampling and processes all records that are left, also deferred ones. */
void profiler_finish(struct profiler *profiler);

/* Begins the next interval with an empty `profiler->collect.set`. Follows changes of CPUs, modules
 * and processes. */
void profiler_next_interval(struct profiler *profiler);

struct profiler_counts profiler_counts_get(struct profiler *profiler);
