// SPDX-License-Identifier: Apache-2.0
/*
 * executable_file - finds and reads the file behind a mapping, in the root of its process.
 *
 * The process may be gone already. Then the file may still be visible in the root of its parent or
 * of the agent. A file is accepted only if it is surely the mapped one: by build id, or by device
 * and inode.
 */
#pragma once

#include "agent/process/executable.h"

#include <sys/stat.h>

/* Opens the mapped file; the caller closes it. -1: it was not found. Sets *ret_stat. */
int executable_file_open(const struct executable_claim *claim, struct stat *ret_stat) MUST_CHECK;

/* Sets build id (as text) and segments from the open file. Fails if it is no valid ELF file. */
bool executable_file_read(struct executable *executable, int fd, struct err *err) MUST_CHECK;

/* The same from the agent's own vdso, which is the same in all processes. */
bool executable_file_read_vdso(struct executable *executable, struct err *err) MUST_CHECK;

/* A memfd with the agent's vdso, or -1; the caller closes it. */
int executable_file_copy_vdso(void) MUST_CHECK;
