// SPDX-License-Identifier: Apache-2.0
/*
 * host - reads properties of the machine (name, online CPUs, stack limit), and raises the process's
 * descriptor limit.
 *
 * Any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * Parses a list like "0-3,8", as in /sys/devices/system/cpu/online, into an array in the arena. The
 * order of the list is kept. ERR_INVALID: the text is malformed, contains no CPU, or contains a CPU
 * number >= CPUS_MAX. On failure the outputs are unchanged.
 */
bool host_cpus_parse(str text, struct arena *arena, uint32_t **ret_cpus, size_t *ret_count,
		     struct err *err) MUST_CHECK;

/* The CPUs that the file lists, in an array in the arena. ERR_IO, ERR_NOT_FOUND: the file cannot be
 * read. ERR_LIMIT: it is too long. ERR_INVALID as above. */
bool host_cpus(const char *path, struct arena *arena, uint32_t **ret_cpus, size_t *ret_count,
	       struct err *err) MUST_CHECK;

#define HOST_CPUS_ONLINE "/sys/devices/system/cpu/online"

/* The maximum number of frames that the kernel records per stack (kernel.perf_event_max_stack); 127
 * if the setting cannot be read. */
uint32_t host_stack_max(void);

/* The host name, in the arena. "localhost" if the machine has no name. */
str host_name(struct arena *arena);

/* False: the agent runs in a pid namespace that is not the host's, so it cannot use the pids that
 * the kernel reports. True if the namespace cannot be determined. */
bool host_sees_all_pids(void);

/*
 * Raises the soft limit of file descriptors to DESCRIPTORS_WANTED, as far as the hard limit allows.
 * A higher soft limit is kept. If the result is below DESCRIPTORS_WANTED, a warning is logged. The
 * agent needs a descriptor for each file that waits for its upload or its unwind table.
 */
void host_raise_descriptors(void);
