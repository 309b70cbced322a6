// SPDX-License-Identifier: Apache-2.0
/*
 * request_path - for any path below /buildid/, an accepted path is bounded and stays in the store.
 */
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/files_path.h"
#include "debuginfo/request_path.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str below = { (const char *)data, size };
	struct request_path path;
	struct err err;

	if (!request_path_parse(below, &path, &err))
		return 0;

	struct files_path stored = files_path_of(&path.id);

	assert(!strstr(stored.directory, "..") && strncmp(stored.directory, "files/", 6) == 0);
	assert(strchr(stored.directory + 6, '/') == strrchr(stored.directory, '/'));
	assert(path.name.len <= SOURCE_PATH_MAX && path.name.len < size);
	assert(path.kind == REQUEST_SECTION || path.kind == REQUEST_SOURCE || !path.name.len);
	assert(path.kind != REQUEST_SOURCE || path.name.ptr[0] == '/');
	return 0;
}
