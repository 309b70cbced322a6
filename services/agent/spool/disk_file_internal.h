// SPDX-License-Identifier: Apache-2.0
/*
 * disk_file - reads and replaces whole files of a directory. After a crash a replaced file has the
 * old or the new content, never a part of either. Any thread; one writer for each file.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* Reads the whole file into the arena. ERR_NOT_FOUND: no such file. ERR_LIMIT: it is longer than
 * `max` bytes. ERR_IO: any other failure. */
bool disk_file_read(int directory_fd, const char *name, size_t max, struct arena *arena,
		    str *ret_bytes, struct err *err) MUST_CHECK;

/*
 * Writes a temporary file (NAME.tmp), calls fsync, renames it, and calls fsync for the directory.
 * ERR_IO: the old file is still in place; but if only the fsync of the directory failed, the new
 * file is in place, and a crash may undo the rename.
 */
bool disk_file_write(int directory_fd, const char *name, str bytes, struct err *err) MUST_CHECK;
