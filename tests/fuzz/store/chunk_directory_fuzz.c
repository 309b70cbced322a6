// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_directory - any bytes are parsed or rejected, and a parsed directory is written unchanged.
 */
#include "store/chunk/chunk_directory.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct chunk_directory directory, again;
	struct err err = { 0 };

	if (!chunk_directory_read((str){ (const char *)data, size }, &directory, &arena, &err)) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return 0;
	}
	assert(chunk_directory_read(chunk_directory_write(&directory, &arena), &again, &arena,
				    &err));
	assert(again.series_count == directory.series_count &&
	       again.name_count == directory.name_count &&
	       again.layout.slice_count == directory.layout.slice_count);
	return 0;
}
