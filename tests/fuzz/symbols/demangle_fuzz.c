// SPDX-License-Identifier: Apache-2.0
/*
 * demangle - any text is demangled or returned unchanged, within the limits.
 */
#include "elf/limits.h"
#include "symbols/demangle.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	str name = { (const char *)data, size }, text = demangle(name, &arena);

	assert(text.ptr == name.ptr ? text.len == name.len
				    : text.len > 0 && text.len <= DEMANGLED_MAX);
	return 0;
}
