// SPDX-License-Identifier: Apache-2.0
/*
 * executable_file - finds and reads the file behind a mapping, in the root of its process.
 *
 * The process may be gone already. Then the file may still be visible in the root of its parent or
 * of the agent. A file is accepted only if it is known to be the mapped one: it has the same build
 * id, or the same device and inode. Agent thread only; the functions keep nothing.
 */
#pragma once

#include "agent/process/executable.h"

#include <sys/stat.h>

/* Opens the mapped file; the caller closes the descriptor. Sets *ret_stat. -1, with *ret_stat
 * unchanged: the file was not found. */
int executable_file_open(const struct executable_claim *claim, struct stat *ret_stat) MUST_CHECK;

/*
 * Sets build id (as text) and segments from the open file. The segments are heap memory that
 * `executable` owns. If the file has no build id, a hash of its content is used. ERR_INVALID: no
 * valid ELF file. ERR_IO: the file cannot be read. On failure `executable` is unchanged.
 */
bool executable_file_read(struct executable *executable, int fd, struct err *err) MUST_CHECK;

/* Sets build id and segments from the agent's own vdso, which is the same in all processes.
 * ERR_NOT_FOUND: this kernel provides no vdso. */
bool executable_file_read_vdso(struct executable *executable, struct err *err) MUST_CHECK;

/* A memfd with the agent's vdso, or -1; the caller closes it. */
int executable_file_copy_vdso(void) MUST_CHECK;
