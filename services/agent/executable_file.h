// SPDX-License-Identifier: Apache-2.0
/*
 * executable_file - find and read the file behind a mapping, in whosever root it lies.
 *
 * The process may be gone by the time we look. Its parent or we ourselves may still see the file;
 * it is taken only when it is surely the one: by build id, or by device and inode.
 */
#pragma once

#include "executable.h"

#include <sys/stat.h>

/* Open the mapped file, or -1. Sets *ret_stat. */
int executable_file_open(const struct executable_claim *claim, struct stat *ret_stat) MUST_CHECK;

/* Fill build id (text) and segments of an executable from its open file. */
bool executable_file_read(struct executable *executable, int fd, struct err *err) MUST_CHECK;

/* The same from our own vdso, which is everybody's. */
bool executable_file_read_vdso(struct executable *executable, struct err *err) MUST_CHECK;

/* A file in memory with our vdso, or -1. */
int executable_file_copy_vdso(void) MUST_CHECK;
