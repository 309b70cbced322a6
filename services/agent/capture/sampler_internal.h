// SPDX-License-Identifier: Apache-2.0
/*
 * sampler - loads the BPF program and runs it by a perf timer on each CPU.
 *
 * sampler_open() loads the program, sampler_follow() starts the timers. In between the agent reads
 * which processes already run. The ring buffer causes no wake-ups: the agent calls sampler_drain()
 * a few times a second. The struct must not move while it is open. Agent thread only.
 */
#pragma once

#include "base/err.h"
#include "bpf/sample.h"
#include "bpf/unwind_maps.h"

struct counts;

struct sampler_options {
	uint64_t hz;                 /* ticks per second and CPU */
	size_t cpu_count;            /* of the whole machine, for the size of the ring */
	const struct counts *counts; /* a pinned map of counters; NULL or not pinned: a new map */
	bool by_calls;               /* for tests: walk by tail calls, as without bpf_loop() */
	bool ship_all_stacks;        /* for tests: ship also stacks that BPF can walk */
};

struct sampler_cpu;

struct sampler {
	uint64_t ring_bytes;
	uint64_t malformed; /* cumulative: records whose length contradicts their counts */
	bool by_calls;      /* the walk uses tail calls: this kernel has no bpf_loop() */
	/* private */
	struct sampler_bpf *bpf;
	struct bpf_program *program; /* the one that is loaded */
	struct ring_buffer *ring;
	struct sampler_cpu *cpus; /* the CPUs that are sampled */
	size_t cpu_count;
	uint64_t began[SAMPLER_COUNT_COUNT], counts[SAMPLER_COUNT_COUNT];
	struct sampler_options options;
	void (*on_record)(void *self, const struct sample_record *record, size_t bytes);
	void *self;
};

typedef void sampler_on_record(void *self, const struct sample_record *record, size_t bytes);

/*
 * Loads the program. Copies `options`; `counts` must stay open until the return only.
 * ERR_NOT_FOUND: the kernel has no BTF. ERR_INVALID: the verifier rejects the program. ERR_IO: any
 * other failure, such as a missing permission. After a failure there is nothing to close.
 */
bool sampler_open(struct sampler *sampler, const struct sampler_options *options,
		  struct err *err) MUST_CHECK;

/* The BPF map of the pages of unwind tables, which the unwind loader fills. The descriptor stays
 * the sampler's. */
int sampler_segments_fd(const struct sampler *sampler);

/* The BPF map of processes, which the unwind loader fills. The descriptor stays the sampler's. */
int sampler_processes_fd(const struct sampler *sampler);

/*
 * Samples exactly these CPUs: starts timers of new CPUs and stops timers of others. Call it again
 * when the set of online CPUs changes. A CPU that is offline is skipped. `cpus` is borrowed during
 * the call. On failure the CPUs before the failing one are sampled; the caller may call again
 * later.
 */
bool sampler_follow(struct sampler *sampler, const uint32_t *cpus, size_t cpu_count,
		    struct err *err) MUST_CHECK;

/* Stops all timers: no further records enter the ring. The records in the ring can still be
 * drained. */
void sampler_stop(struct sampler *sampler);

/* Stops the timers and frees everything. Accepts a zeroed struct. */
void sampler_close(struct sampler *sampler);

/* Calls `on_record` for each record in the ring, in the order of the ring. A record is valid until
 * the callback returns. A malformed record is counted and dropped. Cannot fail. */
void sampler_drain(struct sampler *sampler, sampler_on_record *on_record, void *self);

/*
 * The generation numbers by which the BPF programs detect that a cached rule or mapping is stale.
 * The unwind loader increments the numbers when it changes tables or lists. The memory is mapped
 * from the BPF program and valid until sampler_close().
 */
struct unwind_generation *sampler_generation(const struct sampler *sampler);

/* The program that a tick runs. The descriptor stays the sampler's. */
int sampler_program_fd(const struct sampler *sampler);

/*
 * The counters of the BPF program since sampler_open(), summed over the CPUs, by enum
 * sampler_count. A counter that cannot be read keeps its last value. The array is the sampler's. It
 * is valid until the next call.
 */
const uint64_t *sampler_counts(struct sampler *sampler);
