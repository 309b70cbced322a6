// SPDX-License-Identifier: Apache-2.0
/*
 * disk_file - whole files in a directory: read at once, or replaced so that a crash leaves the old
 * one or the new one and never half of either.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* ERR_NOT_FOUND where there is none; ERR_LIMIT where it is longer than max bytes. */
bool disk_file_read(int directory_fd, const char *name, size_t max, struct arena *arena,
		    str *ret_bytes, struct err *err) MUST_CHECK;

/*
 * Write under a temporary name (NAME.tmp), fsync, rename, fsync the directory. False: the file is
 * not there under its name (or is what it was before).
 */
bool disk_file_write(int directory_fd, const char *name, str bytes, struct err *err) MUST_CHECK;
