// SPDX-License-Identifier: Apache-2.0
/*
 * sampler - the BPF program and the timers that run it, one per CPU.
 *
 * sampler_open() loads, sampler_follow() begins to sample: in between the agent learns what runs
 * already. The ring wakes nobody; sampler_drain() is called a few times a second. Agent thread
 * only.
 */
#pragma once

#include "base/err.h"
#include "sample.h"
#include "unwind_maps.h"

struct counts;

struct sampler_options {
	uint64_t hz;
	size_t cpu_count;            /* of the whole machine, for the size of the ring */
	const struct counts *counts; /* the map to count in; NULL or none: one of its own */
	bool by_calls;               /* as on kernels without bpf_loop(), for tests */
	bool ship_all_stacks;        /* stacks that are known, too, for tests */
};

struct sampler_cpu;

struct sampler {
	uint64_t ring_bytes;
	uint64_t malformed; /* cumulative: records shorter than they say */
	bool by_calls;      /* the walk is by tail calls: this kernel has no bpf_loop() */
	/* private */
	struct sampler_bpf *bpf;
	struct bpf_program *program; /* of its, the one that is loaded */
	struct ring_buffer *ring;
	struct sampler_cpu *cpus; /* those that are sampled */
	size_t cpu_count;
	uint64_t began[SAMPLER_COUNT_COUNT], counts[SAMPLER_COUNT_COUNT];
	struct sampler_options options;
	void (*take)(void *self, const struct sample_record *record, size_t bytes);
	void *self;
};

typedef void sampler_on_record(void *self, const struct sample_record *record, size_t bytes);

bool sampler_open(struct sampler *sampler, const struct sampler_options *options,
		  struct err *err) MUST_CHECK;

/* The maps that unwind_loader.h fills. */
int sampler_segments_fd(const struct sampler *sampler);
int sampler_processes_fd(const struct sampler *sampler);

/* Sample these CPUs and no others; again when CPUs come or go. */
bool sampler_follow(struct sampler *sampler, const uint32_t *cpus, size_t cpu_count,
		    struct err *err) MUST_CHECK;

/* No more ticks: what the ring holds now is all there will be. */
void sampler_stop(struct sampler *sampler);
void sampler_close(struct sampler *sampler);

void sampler_drain(struct sampler *sampler, sampler_on_record *take, void *self);

/*
 * The generation numbers by which the BPF programs know that a remembered rule or mapping is stale.
 * The unwind loader raises them when it changes tables or lists. The memory is the sampler's.
 */
struct unwind_generation *sampler_generation(const struct sampler *sampler);

/* The program that a tick runs. The descriptor stays the sampler's. */
int sampler_program_fd(const struct sampler *sampler);

/*
 * The kernel's counts since sampler_open(), summed over the CPUs. Where one cannot be read, what it
 * was before.
 */
const uint64_t *sampler_counts(struct sampler *sampler);
