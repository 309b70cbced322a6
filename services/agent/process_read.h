// SPDX-License-Identifier: Apache-2.0
/*
 * process_read - what /proc says of a process now.
 */
#pragma once

#include "process.h"

/*
 * Fill the entry: parent, threads, start, program, mappings. False, and nothing is changed: it is
 * gone, or (start_ns not 0) another has its pid.
 */
bool process_read(struct process_table *table, struct process *process, uint64_t start_ns);

/* False: it is gone. */
bool process_read_cgroup(struct process *process);

/* /proc tells the start in ticks of 10 ms, the kernel in ns. */
bool process_started_at(uint64_t start_ticks, uint64_t start_ns);

/* Into the image of the process; beyond MAPPINGS_MAX it is counted and left out. */
void process_map(struct process_table *table, struct process *process, struct mapping mapping);
