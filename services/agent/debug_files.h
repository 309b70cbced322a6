// SPDX-License-Identifier: Apache-2.0
/*
 * debug_files - where the debug info of a mapped file is: in itself, or in a file beside it.
 *
 * Looked for as gdb does: by build id and by .gnu_debuglink, below the root of the process that
 * mapped it and never outside of it. What is found counts only if it is a regular file of that
 * build id, and tells more than the mapped one. Pipes and devices are not opened.
 */
#pragma once

#include "object/debug_rank.h"
#include "object/elf_sections.h"
#include "upload_message.h"

struct debug_file {
	int fd; /* -1: there is none */
	enum debug_rank rank;
	struct elf_sections sections;
	const char *path; /* in the root */
};

struct debug_target {
	const char *build_id, *path;
	int fd;   /* the mapped file */
	int root; /* a directory */
};

/* ERR_INVALID, ERR_LIMIT: the mapped file is none to be read. Of the answer only fd is the
 * caller's. */
bool debug_files_find(const struct debug_target *target, struct arena *arena,
		      struct debug_file *ret_file, struct err *err) MUST_CHECK;

/*
 * The file that holds what dwz moved out of this one: .fd is -1 where it has none, or it is not
 * there. Its build id goes to ret_build_id.
 */
struct debug_file debug_files_find_common(const struct debug_target *target,
					  const struct debug_file *file, struct arena *arena,
					  const char **ret_build_id);
