// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_version - finds the upstream Linux version of this kernel, and decides whether the agent
 * may run on it. Pure: any thread.
 *
 * Distributions number their kernels differently and report the upstream version in other places:
 * Debian reports 6.1.0-9-amd64 and, in `uname -v`, "Debian 6.1.27-1"; Ubuntu reports
 * 6.2.0-26-generic and, in /proc/version_signature, "Ubuntu 6.2.0-26.26-generic 6.2.13". Others
 * begin `uname -r` with the upstream version. No text says which patches a distribution has added,
 * so the user can override the verdict (--allow-unsafe-kernel).
 */
#pragma once

#include "base/str.h"

struct kernel_version {
	uint32_t major, minor, patch;
};

struct kernel_texts {
	str release;   /* uname -r */
	str version;   /* uname -v */
	str signature; /* /proc/version_signature; empty: no such file */
};

enum kernel_verdict {
	KERNEL_FINE,
	KERNEL_TOO_OLD, /* lacks BPF features that the sampler needs */
	KERNEL_FREEZES, /* may freeze the machine when a BPF program reads memory of a process */
	KERNEL_VERDICT_COUNT
};

/* False, with *ret_version unchanged: no text has a version of at least two numbers at the expected
 * place. */
bool kernel_version_of(const struct kernel_texts *texts,
		       struct kernel_version *ret_version) MUST_CHECK;

/* Cannot fail: a version without a known problem is KERNEL_FINE. */
enum kernel_verdict kernel_version_judge(struct kernel_version version);
