// SPDX-License-Identifier: Apache-2.0
/*
 * table_files - the files of symbol tables on disk: their names, and the operations on them.
 *
 * There is no fsync: a table that a power failure left incomplete is found corrupt when it is
 * mapped, and is built again.
 */
#pragma once

#include "base/err.h"
#include "elf/build_id.h"

struct table_file {
	uint64_t size, generation;
	bool is_fallback; /* built from an executable, or without its dwz file: may be improved */
};

/* Create missing directories, lock the directory for this process, and empty work/. ERR_LIMIT:
 * another process has the lock. The caller closes the three descriptors. */
bool table_files_open(const char *path, int *ret_root, int *ret_directory, int *ret_lock,
		      struct err *err) MUST_CHECK;

/* Call each() for every table file, the least recently used first. Other files are removed. */
void table_files_each(int directory,
		      void (*each)(void *self, const struct build_id *id,
				   const struct table_file *file),
		      void *self);

bool table_file_eq(const struct table_file *a, const struct table_file *b);

/* Open a table file and set its time of last use. The caller closes the descriptor. -1 with err: it
 * cannot be opened. */
int table_file_load(int directory, const struct build_id *id, const struct table_file *file,
		    struct err *err);
void table_file_remove(int directory, const struct build_id *id, const struct table_file *file);

/* Move the file `from`, a path below root, to its place in the directory. */
bool table_file_put(int root, int directory, const char *from, const struct build_id *id,
		    const struct table_file *file, struct err *err) MUST_CHECK;

/* Remove all files and directories below a directory. */
void table_files_empty(int directory, const char *name);
