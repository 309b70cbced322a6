// SPDX-License-Identifier: Apache-2.0
/*
 * bpffs - mounts the BPF file system, in which pinned BPF objects outlive the process that made
 * them.
 */
#pragma once

#include "base/err.h"

/*
 * Makes sure that a bpffs is mounted at `directory`. Most hosts have one at /sys/fs/bpf. If there
 * is none, it is mounted, but only over an empty directory; else ERR_INVALID. Waits at most
 * BPFFS_LOCK_MS for another agent that mounts it. It stays mounted, because a successor needs the
 * objects that are pinned there.
 */
bool bpffs_mount(const char *directory, struct err *err) MUST_CHECK;
