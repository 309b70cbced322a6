// SPDX-License-Identifier: Apache-2.0
/*
 * host - one simulated machine and the batches of its agent.
 *
 * Its processes are recorded programs. They run on its CPUs, end, restart, and are deployed in new
 * versions. A CPU runs one thread for some ticks, then another one. Ticks are regular, with a
 * jitter of up to a millisecond. Each tick draws a random stack of the program's recorded stacks.
 */
#pragma once

#include "pool.h"

enum { PROCESSES_MAX = 64, THREADS_MAX = 8, CPUS_MAX = 64 };

struct load {
	uint64_t hz, cpus;
	uint64_t processes;        /* of a host */
	uint64_t busy_percent;     /* of all ticks */
	uint64_t restarts_percent; /* of the processes, per hour */
	uint64_t deploys; /* new versions of each program per day; each host gets one a little later
			   */
	uint64_t days_a_deploy; /* above 0: the days between two versions, instead of `deploys` */
	uint64_t with_pods;     /* 1: labels pod, namespace and container_id */
};

struct host_process {
	uint32_t program;
	uint32_t pid;
	uint32_t threads;
	str pod, container_id; /* new with each start */
};

struct host {
	str node;
	/* private */
	uint64_t number, chance;
	struct host_process processes[PROCESSES_MAX];
	uint32_t next_pid;
	struct {
		uint32_t process, thread;
	} running[CPUS_MAX];
	struct arena arena; /* for data that outlives a batch */
};

void host_init(struct host *host, const struct pool *pool, const struct load *load, uint64_t number,
	       uint64_t seed);

struct span {
	uint64_t start_ms, len_ms;
	uint64_t passed_ms; /* since the previous batch; processes restart in that time */
};

/* The samples of a span, in `set`, which borrows from pool and host. */
void host_batch(struct host *host, const struct pool *pool, const struct load *load,
		const struct span *span, struct sample_set *set);
