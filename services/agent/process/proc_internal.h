// SPDX-License-Identifier: Apache-2.0
/*
 * proc - reads files of /proc/PID. A process may exit at any moment, so each read may fail.
 */
#pragma once

#include "base/str.h"

struct proc_stat {
	uint32_t parent_pid, threads;
	uint64_t start_ticks; /* since boot, in PROC_TICKS_PER_SECOND */
	bool kernel_thread;
};

enum { PROC_TICKS_PER_SECOND = 100 }; /* USER_HZ, fixed for user space */

/* Parses /proc/PID/stat. False: a field is missing or no number. */
bool proc_stat_parse(str text, struct proc_stat *ret_stat) MUST_CHECK;
bool proc_stat_read(uint32_t pid, struct proc_stat *ret_stat) MUST_CHECK;

/* About the first `max` bytes of /proc/PID/NAME; a length of `max` or more means that the rest may
 * be missing. Empty if it cannot be read. */
str proc_read(struct arena *arena, uint32_t pid, const char *name, size_t max);

/* The target of /proc/PID/exe, without " (deleted)"; empty for kernel threads. */
str proc_exe(struct arena *arena, uint32_t pid);
