// SPDX-License-Identifier: Apache-2.0
/*
 * sandbox_internal - what both sides of a sandbox and its filter share.
 */
#pragma once

#include "base/err.h"

/* The first message of a process: it has restricted itself, or could not. */
struct sandbox_hello {
	bool is_restricted;
	uint32_t skipped; /* bits of enum sandbox_step */
	uint64_t cpu_seconds_max;
	char error[256];
};

/* Exit status of a process whose allocation failed. */
enum { SANDBOX_EXIT_MEMORY = 113 };

/* From now on any system call that is not on the list of "sandbox/sandbox_filter.c" kills the
 * process. ERR_IO: the kernel has no seccomp. */
bool sandbox_filter_load(struct err *err) MUST_CHECK;
