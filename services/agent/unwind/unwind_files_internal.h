// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_files - open files of executables, kept until their unwind table is requested.
 *
 * By that time the process that mapped a file may have ended, and the file may be deleted. At most
 * UNWIND_FILES_OPEN_MAX files are open; beyond that, the one opened first is closed. Agent thread
 * only.
 */
#pragma once

#include "agent/process/executable.h"

/* An unordered set of executables: a heap array of borrowed pointers. A zeroed set is valid and
 * empty; the owner frees `items`. */
struct executable_set {
	struct executable **items;
	size_t len, cap;
};

/* Adds an executable, which must not be in the set. */
void executable_set_add(struct executable_set *set, struct executable *executable);

/* Removes an executable if it is in the set. */
void executable_set_remove(struct executable_set *set, const struct executable *executable);

/* A zeroed struct is valid and empty; unwind_files_done() closes the files. */
struct unwind_files {
	struct executable_set open; /* others read only open.len */
	/* private */
	uint64_t opened;
};

/* A process that maps a file: a file that is not open any more is requested through it. */
struct unwind_mapper {
	uint32_t pid, parent_pid;
	uint64_t start, end; /* of a mapping of the file */
	bool is_needed;      /* a frame of a sample lies in the file */
};

/* Adds an open file, which must not be in `files`, and takes ownership of the descriptor. */
void unwind_files_add(struct unwind_files *files, struct executable *executable, int fd);

/* Adds a copy of the vdso; `executable` is the vdso's. */
void unwind_files_open_vdso(struct unwind_files *files, struct executable *executable);

/*
 * Removes a file and returns its descriptor, which the caller owns then. -1: the file is not open.
 */
int unwind_files_remove(struct unwind_files *files, struct executable *executable);

/* Closes a file and removes it, if it is open. */
void unwind_files_close(struct unwind_files *files, struct executable *executable);

/* Closes files that no process maps. The executable cache offers them again when they are mapped
 * again. */
void unwind_files_close_unmapped(struct unwind_files *files);

/* Closes all files. */
void unwind_files_done(struct unwind_files *files);
