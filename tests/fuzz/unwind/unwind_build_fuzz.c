// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_build - any file is rejected with a reason or makes a table that opens.
 */
#include "unwind/unwind_build.h"
#include "unwind/unwind_file.h"

#include <assert.h>
#include <sys/mman.h>

enum { MEMORY = 256 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC), out = memfd_create("table", MFD_CLOEXEC);
	const struct unwind_build_options options = { .memory_max = MEMORY };
	struct unwind_build_result result;
	struct unwind_file file = { 0 };
	struct err err = { 0 };

	if (fd < 0 || out < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	if (!unwind_build(&options, fd, out, &result, &err)) {
		assert(err.code != ERR_NONE && result.reason != UNWIND_BUILT);
		return 0;
	}
	assert(result.reason == UNWIND_BUILT);
	assert(unwind_file_open(&file, out, &err));
	assert(file.header->row_count == result.rows);
	unwind_file_close(&file);
	return 0;
}
