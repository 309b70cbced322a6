// SPDX-License-Identifier: Apache-2.0
/*
 * process_read - fills an entry of the process table from /proc.
 *
 * Agent thread only.
 */
#pragma once

#include "agent/process/process.h"

/*
 * Sets the cgroup if it is not known, then parent, threads, start, program and mappings. False,
 * with nothing else changed: the process is gone, or start_ns is not 0 and the pid belongs to a
 * process with another start; or the budget is used up, or the reading hangs; then the process is
 * still to be read when it is sampled. start_ns: CLOCK_BOOTTIME; 0: any start. If only the
 * beginning of a long list of mappings was read, the process keeps the mappings that it had, and is
 * still to be read.
 */
bool process_read(struct process_table *table, struct process *process, uint64_t start_ns);

/* Reads /proc/PID/cgroup and replaces the process's cgroup if the text differs. False, with nothing
 * changed: the process is gone. */
bool process_read_cgroup(struct process *process);

/* True if start_ticks (of /proc, 10 ms each) and start_ns (of the kernel) are one moment, within
 * the resolution of a tick. */
bool process_started_at(uint64_t start_ticks, uint64_t start_ns);

/* How long the process was neither sampled nor started. now_ms: CLOCK_MONOTONIC. */
uint64_t process_idle_ms(const struct process *process, uint64_t now_ms);

/* Drops the program and the mappings of a process, which is read again when it is sampled. */
void process_forget_mappings(struct process_table *table, struct process *process);

/* Notes in the process that it has such a mapping. `executable`: of its file, or NULL. */
void process_note_mapping(struct process *process, const struct executable *executable, str path);
