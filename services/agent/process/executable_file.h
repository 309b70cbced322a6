// SPDX-License-Identifier: Apache-2.0
/*
 * executable_file - reads the build id and the segments of a mapped file, or of the vdso.
 *
 * executable_file_read() parses an untrusted file: only sandboxed processes call it. The agent
 * calls the functions for its own vdso. The functions keep nothing.
 */
#pragma once

#include "agent/process/executable.h"

/*
 * Sets build id (as text), hash and segments from the open file. The segments are heap memory that
 * `executable` owns. If the file has no build id, the hash is used. ERR_INVALID: no
 * valid ELF file. ERR_IO: the file cannot be read. On failure `executable` is unchanged.
 */
bool executable_file_read(struct executable *executable, int fd, struct err *err) MUST_CHECK;

/* Sets build id and segments from the agent's own vdso, which is the same in all processes.
 * ERR_NOT_FOUND: this kernel provides no vdso. */
bool executable_file_read_vdso(struct executable *executable, struct err *err) MUST_CHECK;

/* A memfd with the agent's vdso, or -1; the caller closes it. */
int executable_file_copy_vdso(void) MUST_CHECK;
