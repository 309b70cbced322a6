// SPDX-License-Identifier: Apache-2.0
/*
 * proc - reading /proc/PID. A process may be gone at any moment: every read may find nothing.
 */
#pragma once

#include "base/str.h"

struct proc_stat {
	uint32_t parent_pid, threads;
	uint64_t start_ticks; /* since boot, in PROC_TICKS_PER_SECOND */
	bool kernel_thread;
};

enum { PROC_TICKS_PER_SECOND = 100 }; /* USER_HZ, fixed for user space */

bool proc_stat_parse(str text, struct proc_stat *ret_stat) MUST_CHECK;
bool proc_stat_read(uint32_t pid, struct proc_stat *ret_stat) MUST_CHECK;

/* Up to max bytes of /proc/PID/NAME; empty when it cannot be read. */
str proc_read(struct arena *arena, uint32_t pid, const char *name, size_t max);

/* Where /proc/PID/exe points, without " (deleted)"; empty for kernel threads. */
str proc_exe(struct arena *arena, uint32_t pid);
