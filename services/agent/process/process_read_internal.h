// SPDX-License-Identifier: Apache-2.0
/*
 * process_read - fills an entry of the process table from /proc.
 */
#pragma once

#include "agent/process/process.h"

/*
 * Sets parent, threads, start, program and mappings. False, and nothing is changed, if the process
 * is gone, or if start_ns is not 0 and the pid belongs to a process with another start.
 */
bool process_read(struct process_table *table, struct process *process, uint64_t start_ns);

/* Reads /proc/PID/cgroup. False: the process is gone. */
bool process_read_cgroup(struct process *process);

/* True if both are the same start. /proc has ticks of 10 ms, the kernel nanoseconds. */
bool process_started_at(uint64_t start_ticks, uint64_t start_ns);

/* Adds a mapping to the image of the process; beyond MAPPINGS_MAX it is dropped and counted. */
void process_map(struct process_table *table, struct process *process, struct mapping mapping);
