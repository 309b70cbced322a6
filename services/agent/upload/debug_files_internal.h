// SPDX-License-Identifier: Apache-2.0
/*
 * debug_files - finds the debug info of a mapped file: in the file itself, or in a separate file.
 *
 * Separate files are searched as gdb does it: by build id, then by .gnu_debuglink. The search stays
 * below the root directory of the process that mapped the file. A separate file is used only if it
 * is a regular file, has the same build id (or the CRC of the link), and has more debug info than
 * the mapped file. If only root can write the mapped file, the same must hold for the separate one,
 * so that both are trusted. Pipes and devices are never opened. Runs in the uploader process, in
 * one thread; files are parsed by its file_parser.
 *
 * If the file was built with -gsplit-dwarf, the package beside it is used too: the file's path, or
 * that of the mapped file, and ".dwp", as gdb does it. A package has no build id; a reader finds
 * its units by the 64-bit ids that the compiler gave them, so one of another build names nothing.
 */
#pragma once

#include "agent/upload/file_parser_internal.h"
#include "base/arena.h"

struct debug_file {
	int fd;                    /* -1: not found */
	int package_fd;            /* -1: none */
	const char *path;          /* below the root */
	struct parsed_file parsed; /* rank and size of the extract: with the package */
};

/* The mapped file. All members are borrowed from the caller. */
struct debug_target {
	const char *build_id, *path;
	int fd;
	int root;         /* the root directory of its process */
	bool is_own_root; /* that is our own root directory */
	bool is_trusted;  /* only root can write the mapped file */
	struct file_parser *parser;
};

/*
 * Finds the file with the most debug info, at least the mapped file itself. The caller calls
 * debug_file_close(); ret_file->fd is never -1 on success. The other members are in the arena or
 * borrowed from `target`. ERR_INVALID: the mapped file cannot be parsed. ERR_IO: the parser has
 * ended, or no descriptor is free.
 */
bool debug_files_find(const struct debug_target *target, struct arena *arena,
		      struct debug_file *ret_file, struct err *err) MUST_CHECK;

/* Accepts a file that was not found. */
void debug_file_close(struct debug_file *file);

/* Lets the parser read the file, and its package, as those whose extract is wanted. Errors as
 * file_parser_read(). */
bool debug_file_select(const struct debug_target *target, const struct debug_file *file,
		       struct parsed_file *ret_parsed, struct err *err) MUST_CHECK;

/*
 * Finds the common file of dwz (debug info that several files share) to which `file` refers. The
 * caller calls debug_file_close(); .fd is -1 if `file` refers to no common file, or if the common
 * file is missing. *ret_build_id, in the arena, is written only if `file` refers to a common file.
 * Cannot fail otherwise.
 */
struct debug_file debug_files_find_common(const struct debug_target *target,
					  const struct debug_file *file, struct arena *arena,
					  const char **ret_build_id);
