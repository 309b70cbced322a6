// SPDX-License-Identifier: Apache-2.0
/*
 * files_path - the layout of the store: paths and file names. Used only by files*.c and
 * file_write.c. Any thread.
 */
#pragma once

#include "elf/build_id.h"

#include <limits.h>

enum { FILES_PATH_MAX = 320 };

/* Relative to the store: the directory of a build id (files/AB/REST), and its parent (files/AB). */
struct files_path {
	char shard[FILES_PATH_MAX], directory[FILES_PATH_MAX];
};

struct files_path files_path_of(const struct build_id *id);

enum { FILES_ENTRY_MAX = 96 }; /* with the NUL */

/* An entry of a build id's directory: NAME-GENERATION, or NAME-GENERATION.trusted. */
struct files_entry {
	uint64_t generation; /* 0: another file */
	bool is_trusted;
};

void files_path_entry(const char *name, struct files_entry entry, char ret_text[FILES_ENTRY_MAX]);

/* The generation is 0 if the text is no entry of that name. */
struct files_entry files_path_parse_entry(const char *text, const char *name);

/* Call visit() for each entry of the directory `path`, which is relative to the directory `above`.
 * A directory that cannot be opened has no entries. */
typedef void files_path_visit(void *self, int directory, const char *name);
void files_path_each_entry(int above, const char *path, files_path_visit *visit, void *self);
