// SPDX-License-Identifier: Apache-2.0
/*
 * brief_processes - finds processes that started and ended while their events waited, without a
 * sample.
 *
 * The events of such a process are not needed: the process table would add it, collect its mappings
 * and free them. A process is brief if its fork and the exits of all its threads are known, it has
 * no sample, and all its children are brief: another child inherits its mappings. If a pid was
 * reused, or an event was lost, the process is not brief.
 *
 * The events of a step may come in any order, so the caller need not sort them. The caller sets
 * `arena`, which owns the memory, and nothing else. Pure. One thread.
 */
#pragma once

#include "agent/process/sideband_record.h"
#include "base/index.h"

struct brief_process {
	uint32_t pid, parent_pid;
	uint64_t started_ns;
	uint32_t forks, threads, exits; /* threads: that were started */
	bool is_needed;
};

struct brief_processes {
	struct arena *arena;
	/* private */
	INDEX(struct brief_process) by_pid; /* of all forks of processes */
};

/* First all forks of processes; other events are ignored. */
void brief_processes_start(struct brief_processes *brief, const struct sideband_record *record);

/* Then forks of threads and exits; other events are ignored. */
void brief_processes_end(struct brief_processes *brief, const struct sideband_record *record);

/* The process has a sample. */
void brief_processes_need(struct brief_processes *brief, uint32_t pid);

/* Last: a process that is not brief needs its parents. */
void brief_processes_decide(struct brief_processes *brief);

/* True if the event is of a brief process. Called after brief_processes_decide(). */
bool brief_processes_has(const struct brief_processes *brief, const struct sideband_record *record);
