// SPDX-License-Identifier: Apache-2.0
/*
 * profiler - everything from the kernel's ticks to a sample_set, on one thread.
 *
 * A few times a second profiler_drain() reads all rings, puts what came in order and walks it:
 * side- band events change the processes, samples are resolved against them. Only what is surely
 * complete is walked: up to the moment the round before began. A sample whose stack needs a table
 * that is being built waits for it (held.h). Once per interval the set is taken away.
 */
#pragma once

#include "collect.h"
#include "deferred_samples.h"
#include "loss_counters.h"
#include "sampler.h"
#include "sideband.h"
#include "stack_walk.h"
#include "timeline.h"
#include "unwind_loader.h"

enum profiler_cut {
	CUT_KERNEL, /* then those of the user side, as in enum user_end */
	CUT_USER,
	CUT_UNMAPPED = CUT_USER + USER_END_COUNT - USER_END_TOO_DEEP,
	CUT_COUNT
};
extern const char *const profiler_cut_names[CUT_COUNT];

/*
 * All cumulative since profiler_open(). taken = lost + what sets have held and will hold; what is
 * lost later than in a set is not known here.
 */
struct profiler_counts {
	struct tally tally;
	uint64_t cut[CUT_COUNT];
	uint64_t stacks_shipped, stacks_not_shipped; /* stacks that the BPF walk could not finish */
};

struct profiler_options {
	uint64_t hz;
	str node;
	struct labels external;
	const struct counts *counts;        /* as in sampler_options */
	struct containers *containers;      /* as in collect_options */
	struct executable_sink executables; /* is shown each; .offer NULL: nobody is */
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
	uint64_t round_ns;  /* when the round before began */
	bool is_ending;     /* nothing waits any more */
	uint64_t lost_seen; /* side-band records lost when /proc was last read */
	uint64_t scanned_ms, swept_ms;
};

/* Loads, learns what runs, and begins to sample. */
bool profiler_open(struct profiler *profiler, const struct profiler_options *options,
		   struct err *err) MUST_CHECK;
void profiler_close(struct profiler *profiler);

void profiler_drain(struct profiler *profiler);

/* Until the next drain: less while processes come and go faster than the side band can hold. */
uint64_t profiler_pause_ms(const struct profiler *profiler);

/* At the end: take no more samples, and walk also what is not surely complete. */
void profiler_finish(struct profiler *profiler);

/* Begin the next interval: `profiler->collect.set` is empty again. */
void profiler_next_interval(struct profiler *profiler);

struct profiler_counts profiler_counts_get(struct profiler *profiler);
