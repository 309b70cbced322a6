// SPDX-License-Identifier: Apache-2.0
/*
 * proc - reads files of /proc/PID. A process may exit at any moment, so each read may fail.
 *
 * Results are in the arena or are plain values. Any thread.
 */
#pragma once

#include "base/str.h"

struct proc_stat {
	uint32_t parent_pid, threads; /* threads: number of threads */
	uint64_t start_ticks;         /* since boot, in PROC_TICKS_PER_SECOND */
	bool kernel_thread;
};

enum { PROC_TICKS_PER_SECOND = 100 }; /* USER_HZ, fixed for user space */

/* Parses the content of /proc/PID/stat. False, with *ret_stat unchanged: a field is missing or no
 * number. */
bool proc_stat_parse(str text, struct proc_stat *ret_stat) MUST_CHECK;

/* Reads and parses /proc/PID/stat. False, with *ret_stat unchanged: the process is gone, or the
 * content is malformed. */
bool proc_stat_read(uint32_t pid, struct proc_stat *ret_stat) MUST_CHECK;

/* About the first `max` bytes of /proc/PID/NAME, in the arena. A result of `max` or more bytes may
 * be incomplete. Empty: the file is empty or cannot be read. */
str proc_read(struct arena *arena, uint32_t pid, const char *name, size_t max);

/* The target of /proc/PID/exe without " (deleted)", in the arena. Empty: a kernel thread, or the
 * process is gone. */
str proc_exe(struct arena *arena, uint32_t pid);
