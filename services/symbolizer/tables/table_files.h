// SPDX-License-Identifier: Apache-2.0
/*
 * table_files - the files of symbol tables on disk: their names, and the operations on them.
 *
 * There is no fsync: a table that a power failure left incomplete is found corrupt when it is
 * mapped, and is built again. Only tables.c uses it; the caller owns all descriptors. Any thread.
 */
#pragma once

#include "base/err.h"
#include "elf/build_id.h"

struct table_file {
	uint64_t size, generation;
	bool is_fallback; /* built from an executable, or without its dwz file: may be improved */
};

/* Creates missing directories, locks the directory for this process, and empties work/. The caller
 * closes the three descriptors: of `path`, of its tables/, and of the lock. ERR_BUSY: another
 * process has the lock; ERR_IO, ERR_NOT_FOUND: a directory or the lock file cannot be opened. After
 * a failure nothing is open and the outputs are unchanged. */
bool table_files_open(const char *path, int *ret_root, int *ret_directory, int *ret_lock,
		      struct err *err) MUST_CHECK;

/* Calls each() for every table file, the least recently used first. Other files are removed. The
 * arguments of each() are valid during that call. If the directory cannot be read, there are no
 * calls. */
void table_files_each(int directory,
		      void (*each)(void *self, const struct build_id *id,
				   const struct table_file *file),
		      void *self);

/* True if both have the same generation and is_fallback; the size is not compared. */
bool table_file_eq(const struct table_file *a, const struct table_file *b);

/* True if `a` has a newer generation than `b`, or the same one and only `b` is a fallback. */
bool table_file_is_better(const struct table_file *a, const struct table_file *b);

/* Opens a table file and sets its time of last use. The caller closes the descriptor. -1 with err:
 * the file cannot be opened. */
int table_file_load(int directory, const struct build_id *id, const struct table_file *file,
		    struct err *err);

/* Removes a table file. A failure is ignored. */
void table_file_remove(int directory, const struct build_id *id, const struct table_file *file);

/* Moves the file `from`, a path relative to root, to its place in the directory; an existing file
 * of that name is replaced. ERR_IO or ERR_NOT_FOUND: the file stays where it was. */
bool table_file_put(int root, int directory, const char *from, const struct build_id *id,
		    const struct table_file *file, struct err *err) MUST_CHECK;

/* Removes all files and directories below directory/name, which stays. Failures are ignored. */
void table_files_empty(int directory, const char *name);
