// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_check - whether this host's kernel lets the agent work, and what to say where it does not.
 */
#pragma once

#include "base/err.h"
#include "kernel_version.h"

/*
 * A kernel that is too old or known to freeze is refused, with the reason; `insist`: it is logged,
 * and true. One whose version nobody can tell is believed to be fine.
 */
bool kernel_check(bool insist, struct err *err) MUST_CHECK;

/* The same of any texts. Pure. */
bool kernel_check_texts(const struct kernel_texts *texts, struct err *err) MUST_CHECK;

/* What forbids BPF and perf events, as the kernel tells it; what is empty is not known. */
struct kernel_rules {
	str lockdown; /* /sys/kernel/security/lockdown */
	str status;   /* /proc/self/status */
	str paranoid; /* /proc/sys/kernel/perf_event_paranoid */
	str uid_map;  /* /proc/self/uid_map */
};

/* One sentence's part on which of them it is; empty: none of them. Pure. */
str kernel_obstacle(const struct kernel_rules *rules, struct arena *arena);

/* After BPF or perf events were refused: the error says which rule it may be. Returns false. */
bool kernel_check_explain(struct err *err);
