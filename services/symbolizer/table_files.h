// SPDX-License-Identifier: Apache-2.0
/*
 * table_files - where tables lie on disk, and by which names.
 */
#pragma once

#include "base/err.h"
#include "object/build_id.h"

struct table_file {
	uint64_t size, generation;
	bool is_fallback; /* of an executable */
};

/* Make the directories that lack, take the lock that says that they are ours, empty work/. */
bool table_files_open(const char *path, int *ret_root, int *ret_directory, int *ret_lock,
		      struct err *err) MUST_CHECK;

/* Each table there, the least recently used first; what is none is removed. */
void table_files_each(int directory,
		      void (*each)(void *self, const struct build_id *id,
				   const struct table_file *file),
		      void *self);

bool table_file_eq(const struct table_file *a, const struct table_file *b);

/* -1: no such file. Counts as a use. */
int table_file_load(int directory, const struct build_id *id, const struct table_file *file,
		    struct err *err);
void table_file_remove(int directory, const struct build_id *id, const struct table_file *file);

/* From below root into its place. */
bool table_file_put(int root, int directory, const char *from, const struct build_id *id,
		    const struct table_file *file, struct err *err) MUST_CHECK;

/* Remove what is in a directory, and below it. */
void table_files_empty(int directory, const char *name);
