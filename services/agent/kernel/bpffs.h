// SPDX-License-Identifier: Apache-2.0
/*
 * bpffs - mounts the BPF file system, in which pinned BPF objects outlive the process that made
 * them.
 *
 * One thread.
 */
#pragma once

#include "base/err.h"

/*
 * Makes sure that a bpffs is mounted at `directory`, which is borrowed. Most hosts have one at
 * /sys/fs/bpf. If there is none, the directory is created if missing and a bpffs is mounted over
 * it, but only if the directory is empty: otherwise ERR_INVALID. Waits at most BPFFS_LOCK_MS for
 * another agent that mounts it. ERR_IO, ERR_NOT_FOUND: the lock was not acquired in time, or a
 * system call failed. The mount is never undone, because a successor needs the objects that are
 * pinned there.
 */
bool bpffs_mount(const char *directory, struct err *err) MUST_CHECK;
