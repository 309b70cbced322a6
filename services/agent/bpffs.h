// SPDX-License-Identifier: Apache-2.0
/*
 * bpffs - the file system in which BPF objects outlive who made them.
 */
#pragma once

#include "base/err.h"

/*
 * Make sure that one is mounted there: most hosts have one at /sys/fs/bpf; where none is, it is
 * mounted, over an empty directory only. It is left mounted: what is pinned there is for a
 * successor.
 */
bool bpffs_mount(const char *directory, struct err *err) MUST_CHECK;
