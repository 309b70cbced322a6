// SPDX-License-Identifier: Apache-2.0
/*
 * files_path - where the store keeps a file.
 */
#pragma once

#include "object/build_id.h"

#include <limits.h>

enum { FILES_PATH_MAX = 320 };

/* files/AB/REST: a build id's directory, and files/AB above it. */
struct files_path {
	char shard[FILES_PATH_MAX], directory[FILES_PATH_MAX];
};

struct files_path files_path_of(const struct build_id *id);

/* The generation of NAME-GENERATION; 0 when it is another file's name. */
uint64_t files_path_generation(const char *entry, const char *name);

/* Every entry of a directory that is given by its path below another one. */
typedef void files_path_visit(void *self, int directory, const char *name);
void files_path_each_entry(int above, const char *path, files_path_visit *visit, void *self);
