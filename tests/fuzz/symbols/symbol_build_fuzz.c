// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_build - any file is rejected or makes a table that opens.
 */
#include "symbols/symbol_build.h"
#include "symbols/symbol_table.h"

#include <assert.h>
#include <sys/mman.h>

enum { MEMORY = 256 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC), out = memfd_create("table", MFD_CLOEXEC);
	struct symbol_table table = { 0 };
	struct build_id alt;
	struct err err = { 0 };

	if (fd < 0 || out < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	if (symbol_build_alt_id(fd, &alt))
		assert(alt.text[0]);
	/* Every other input is also its own dwz file, and a debug file may have the sections of its
	 * package of split DWARF, so no second file is needed. */
	struct symbol_build_options options = { .memory_max = MEMORY, .alt_fd = size % 2 ? fd : 0 };

	if (!symbol_build(&options, fd, out, &err)) {
		assert(err.code != ERR_NONE);
		return 0;
	}
	assert(symbol_table_open(&table, out, &err));
	symbol_table_close(&table);
	return 0;
}
