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

/* A set of executables, unordered; a heap array of borrowed pointers. */
struct executable_set {
	struct executable **items;
	size_t len, cap;
};

void executable_set_add(struct executable_set *set, struct executable *executable);
void executable_set_remove(struct executable_set *set, const struct executable *executable);

struct unwind_files {
	struct executable_set open; /* read its .len */
	/* private */
	uint64_t opened;
};

/* A process that maps a file: through it the file is opened again if it is not open any more. */
struct unwind_mapper {
	uint32_t pid, parent_pid;
	uint64_t start, end; /* of a mapping of the file */
	bool is_needed;      /* a frame of a sample lies in the file */
};

/* Add an open file, and take over the descriptor; or open it by way of a process that maps it. */
void unwind_files_add(struct unwind_files *files, struct executable *executable, int fd);
void unwind_files_open(struct unwind_files *files, struct executable *executable,
		       const struct unwind_mapper *mapper);

/* Remove a file and return its descriptor, which is the caller's from now on; -1: not open. */
int unwind_files_remove(struct unwind_files *files, struct executable *executable);
void unwind_files_close(struct unwind_files *files, struct executable *executable);

/* Close files that no process maps. They are offered again when they are mapped again. */
void unwind_files_close_unmapped(struct unwind_files *files);
void unwind_files_done(struct unwind_files *files);
