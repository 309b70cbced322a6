// SPDX-License-Identifier: Apache-2.0
/*
 * build_id - an accepted build id is safe in a path: only digits, and one prefix.
 */
#include "elf/build_id.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct build_id id;
	struct err err;

	if (!build_id_parse((str){ (const char *)data, size }, &id, &err))
		return 0;
	assert(strlen(id.text) == size);
	assert(strspn(id.text + (id.is_hash ? 8 : 0), "0123456789abcdef") ==
	       size - (id.is_hash ? 8 : 0));
	assert(!id.is_hash || strncmp(id.text, "htlhash:", 8) == 0);
	return 0;
}
