// SPDX-License-Identifier: Apache-2.0
/*
 * A value from Redis: if the decoder accepts it, it can be encoded and decoded again.
 */
#include "symbolizer/shared_cache/cache_value_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct symbolized_location location, again;
	struct location_builder builder;

	location_builder_init(&builder, &arena);
	if (cache_value_decode((str){ (const char *)data, size }, &builder, &location) &&
	    (!cache_value_decode(cache_value_encode(&location, &arena), &builder, &again) ||
	     again.line_count != location.line_count))
		abort();
	return 0;
}
