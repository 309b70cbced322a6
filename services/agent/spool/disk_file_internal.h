// SPDX-License-Identifier: Apache-2.0
/*
 * disk_file - reads and replaces whole files of a directory. A replaced file is the old one or the
 * new one after a crash, never a partial one.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* ERR_NOT_FOUND: no such file. ERR_LIMIT: it is longer than `max` bytes. */
bool disk_file_read(int directory_fd, const char *name, size_t max, struct arena *arena,
		    str *ret_bytes, struct err *err) MUST_CHECK;

/*
 * Write to a temporary file (NAME.tmp), fsync it, rename it, fsync the directory. False: the
 * old file is still in place. If only the fsync of the directory failed, the new file is in place,
 * but a crash may undo the rename.
 */
bool disk_file_write(int directory_fd, const char *name, str bytes, struct err *err) MUST_CHECK;
