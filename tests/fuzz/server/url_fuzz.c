// SPDX-License-Identifier: Apache-2.0
/*
 * url - decoding any URL stays within its bounds and never makes it longer.
 */
#include "server/http/url.h"
#include "server/limits.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	str text = { (const char *)data, size }, path;
	struct http_param *params;
	size_t count, bytes = 0;
	struct err err;

	if (url_decode(text, false, &arena, &path, &err))
		assert(path.len <= size);
	if (url_query_parse(text, &arena, &params, &count, &err)) {
		assert(count <= HTTP_PARAMS_MAX);
		for (size_t i = 0; i < count; i++)
			bytes += params[i].name.len + params[i].value.len;
		assert(bytes <= size);
	}
	return 0;
}
