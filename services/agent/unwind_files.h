// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_files - files of executables that are kept open until their table is wanted.
 *
 * Who maps them may be gone by then, and the file deleted. Bounded: the oldest are let go, and so
 * is what nobody maps. Agent thread only.
 */
#pragma once

#include "executable.h"

/* A few executables, in no order. */
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

/* Who maps it: where the file is found should it not be open any more. */
struct unwind_mapper {
	uint32_t pid, parent_pid;
	uint64_t start, end; /* of a mapping of it */
	bool is_needed;      /* a frame of it lies there */
};

/* The first takes the descriptor. */
void unwind_files_add(struct unwind_files *files, struct executable *executable, int fd);
void unwind_files_open(struct unwind_files *files, struct executable *executable,
		       const struct unwind_mapper *mapper);

/* The file, the caller's from now on; -1: it is not held. */
int unwind_files_remove(struct unwind_files *files, struct executable *executable);
void unwind_files_close(struct unwind_files *files, struct executable *executable);

/* What nobody maps is let go, and shown again when it is mapped the next time. */
void unwind_files_close_unmapped(struct unwind_files *files);
void unwind_files_done(struct unwind_files *files);
