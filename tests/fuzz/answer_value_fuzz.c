// SPDX-License-Identifier: Apache-2.0
/*
 * What comes out of Redis: what is accepted can be written and read again.
 */
#include "answer_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct symbolized_location location, again;
	struct namer namer;

	namer_init(&namer, &arena);
	if (answer_value_read((str){ (const char *)data, size }, &namer, &location) &&
	    (!answer_value_read(answer_value_write(&location, &arena), &namer, &again) ||
	     again.line_count != location.line_count))
		abort();
	return 0;
}
