// SPDX-License-Identifier: Apache-2.0
/*
 * host - what the agent must know of the machine: its name and its CPUs.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* "0-3,8" as in /sys/devices/system/cpu/online. */
bool host_cpus_parse(str text, struct arena *arena, uint32_t **ret_cpus, size_t *ret_count,
		     struct err *err) MUST_CHECK;
bool host_cpus(struct arena *arena, uint32_t **ret_cpus, size_t *ret_count,
	       struct err *err) MUST_CHECK;

/* The frames that the kernel gives of a stack, kernel.perf_event_max_stack; 127 if it says nothing.
 */
uint32_t host_stack_max(void);

str host_name(struct arena *arena);

/* False: we are in a pid namespace of our own, where the kernel's pids mean nothing. */
bool host_sees_all_pids(void);

/* Files that wait, and segments of unwind tables, hold descriptors beside those of sampling. */
void host_raise_descriptors(void);
