// SPDX-License-Identifier: Apache-2.0
/*
 * host - properties of the machine: its name, its CPUs, its limits.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * Parses "0-3,8" as in /sys/devices/system/cpu/online into an array in the arena. ERR_INVALID: no
 * such list, an empty one, or a CPU of number CPUS_MAX or more.
 */
bool host_cpus_parse(str text, struct arena *arena, uint32_t **ret_cpus, size_t *ret_count,
		     struct err *err) MUST_CHECK;
/* The CPUs that are online. Fails if the kernel's file cannot be read or parsed. */
bool host_cpus(struct arena *arena, uint32_t **ret_cpus, size_t *ret_count,
	       struct err *err) MUST_CHECK;

/* The maximum number of kernel frames of a stack, kernel.perf_event_max_stack; 127 if unknown. */
uint32_t host_stack_max(void);

/* The host name, or "localhost" if there is none. */
str host_name(struct arena *arena);

/* False: the agent is in a pid namespace of its own, so it cannot use the pids that the kernel
 * reports. */
bool host_sees_all_pids(void);

/*
 * Raises the soft limit of file descriptors to DESCRIPTORS_WANTED, as far as the hard limit allows;
 * a warning is logged if that is less. Files waiting for upload and segments of unwind tables need
 * many descriptors.
 */
void host_raise_descriptors(void);
