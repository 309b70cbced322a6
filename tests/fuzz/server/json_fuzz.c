// SPDX-License-Identifier: Apache-2.0
/*
 * json - any bytes are written as valid UTF-8, and the only unescaped quotes are the first and
 * last.
 */
#include "server/json/json.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };
	struct json json = { .out = &out };

	json_str(&json, (str){ (const char *)data, size });

	str text = buf_bytes(&out);
	size_t at = 1;

	assert(text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"');
	assert(str_is_utf8(text));
	while (at < text.len - 1) {
		assert((unsigned char)text.ptr[at] >= ' ' && text.ptr[at] != '"');
		at += text.ptr[at] == '\\' ? 2 : 1;
	}
	assert(at == text.len - 1);
	return 0;
}
