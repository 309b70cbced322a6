// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_version - which Linux runs beneath a distribution's name, and what is known of it. Pure.
 *
 * Distributions number their kernels in their own way and keep upstream's version elsewhere: Debian
 * says 6.1.0-9-amd64 and, in `uname -v`, "Debian 6.1.27-1"; Ubuntu says 6.2.0-26-generic and, in
 * /proc/version_signature, "Ubuntu 6.2.0-26.26-generic 6.2.13". Others begin `uname -r` with it.
 * What they patch on top, no text tells: so who is told no may insist.
 */
#pragma once

#include "base/str.h"

struct kernel_version {
	uint32_t major, minor, patch;
};

struct kernel_texts {
	str release;   /* uname -r */
	str version;   /* uname -v */
	str signature; /* /proc/version_signature; empty: there is none */
};

enum kernel_verdict {
	KERNEL_FINE,
	KERNEL_TOO_OLD, /* lacks what the BPF program is made of */
	KERNEL_FREEZES, /* a BPF program's reading a process' memory may stop the machine */
	KERNEL_VERDICT_COUNT
};

/* False: no text begins with two numbers. */
bool kernel_version_of(const struct kernel_texts *texts,
		       struct kernel_version *ret_version) MUST_CHECK;

enum kernel_verdict kernel_version_judge(struct kernel_version version);
