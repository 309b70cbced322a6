// SPDX-License-Identifier: Apache-2.0
/*
 * json_read - the results are never larger than the input.
 */
#include "server/json/json_read.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	size_t count, bytes = 0;
	str *texts;
	struct err err;

	struct json_count *counts;
	struct json_numbers *lists;
	const struct json_numbers_shape shape = {
		.list = "ids", .text = "id", .numbers = "n", .list_max = 100, .numbers_max = 100
	};

	struct json_member members[] = { { .name = "ids" }, { .name = "n" } };

	if (json_read_members((str){ (const char *)data, size }, members, ARRAY_LEN(members),
			      &arena, &err))
		for (size_t i = 0; i < ARRAY_LEN(members); i++)
			assert(members[i].kind != MEMBER_TEXT || members[i].text.len <= size);
	if (json_read_counts((str){ (const char *)data, size }, "ids", "n", 100, &arena, &counts,
			     &count, &err))
		assert(count <= 100);
	if (json_read_numbers((str){ (const char *)data, size }, &shape, &arena, &lists, &count,
			      &err))
		assert(count <= 100);
	if (!json_read_texts((str){ (const char *)data, size }, "ids", 100, &arena, &texts, &count,
			     &err))
		return 0;
	assert(count <= 100);
	for (size_t i = 0; i < count; i++) {
		assert(str_is_utf8(texts[i]));
		bytes += texts[i].len;
	}
	assert(bytes <= size);
	return 0;
}
