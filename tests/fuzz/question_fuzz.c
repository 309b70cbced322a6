// SPDX-License-Identifier: Apache-2.0
/*
 * question - whatever stands below /buildid/, what is taken is bounded and names nothing outside.
 */
#include "debuginfo_limits.h"
#include "files_path.h"
#include "question.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str below = { (const char *)data, size };
	struct question question;
	struct err err;

	if (!question_parse(below, &question, &err))
		return 0;

	struct files_path path = files_path_of(&question.id);

	assert(!strstr(path.directory, "..") && strncmp(path.directory, "files/", 6) == 0);
	assert(strchr(path.directory + 6, '/') == strrchr(path.directory, '/'));
	assert(question.rest.len <= SOURCE_PATH_MAX && question.rest.len < size);
	assert(question.kind == ASK_SECTION || question.kind == ASK_SOURCE || !question.rest.len);
	assert(question.kind != ASK_SOURCE || question.rest.ptr[0] == '/');
	return 0;
}
