// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_check - checks whether the agent can run on this kernel, and explains why not.
 *
 * Any thread.
 */
#pragma once

#include "agent/kernel/kernel_version.h"
#include "base/err.h"

/*
 * Checks the running kernel. ERR_INVALID, with the reason: the kernel is too old or may freeze.
 * ERR_IO: its version cannot be read. `insist`: ERR_INVALID is logged as a warning instead, and the
 * result is true. A kernel of unknown version is accepted.
 */
bool kernel_check(bool insist, struct err *err) MUST_CHECK;

/* Checks the given texts instead of the running kernel: ERR_INVALID as above. Pure. */
bool kernel_check_texts(const struct kernel_texts *texts, struct err *err) MUST_CHECK;

/* The kernel's settings that may forbid BPF and perf events. An empty text is unknown. */
struct kernel_rules {
	str lockdown; /* /sys/kernel/security/lockdown */
	str status;   /* /proc/self/status */
	str paranoid; /* /proc/sys/kernel/perf_event_paranoid */
	str uid_map;  /* /proc/self/uid_map */
};

/* Explains which setting forbids BPF or perf events, as a part of a sentence. Empty: no setting
 * does. The text is constant, or in the arena. Pure. */
str kernel_obstacle(const struct kernel_rules *rules, struct arena *arena);

/* After the kernel has rejected BPF or perf events: appends the likely reason to `err` and keeps
 * its code. An error of code ERR_NOT_FOUND stays unchanged. Always returns false. */
bool kernel_check_explain(struct err *err);
