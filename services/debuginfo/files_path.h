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

/* The generation in the entry name NAME-GENERATION; 0 if the entry has another NAME. */
uint64_t files_path_generation(const char *entry, const char *name);

/* Call visit() for each entry of the directory `path`, which is relative to the directory `above`.
 * A directory that cannot be opened has no entries. */
typedef void files_path_visit(void *self, int directory, const char *name);
void files_path_each_entry(int above, const char *path, files_path_visit *visit, void *self);
