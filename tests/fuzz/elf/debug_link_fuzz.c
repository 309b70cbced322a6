// SPDX-License-Identifier: Apache-2.0
/*
 * debug_link - parsed names are inside the section and do not lead to another directory.
 */
#include "elf/debug_link.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(str part, const uint8_t *data, size_t size)
{
	assert(part.len > 0 && part.ptr >= (const char *)data);
	assert(part.ptr + part.len <= (const char *)data + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str bytes = { (const char *)data, size };
	struct debug_link link;
	struct debug_altlink altlink;

	if (debug_link_parse(bytes, &link)) {
		check_inside(link.name, data, size);
		assert(!memchr(link.name.ptr, '/', link.name.len));
		assert(!memchr(link.name.ptr, 0, link.name.len));
	}
	if (debug_altlink_parse(bytes, &altlink)) {
		check_inside(altlink.path, data, size);
		check_inside(altlink.build_id, data, size);
		assert(!memchr(altlink.path.ptr, 0, altlink.path.len));
	}
	return 0;
}
