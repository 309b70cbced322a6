// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_follow - for any code the analysis terminates, and its rows ascend.
 */
#include "symbols/x86_instruction.h"
#include "unwind/unwind_follow_internal.h"

#include <assert.h>
#include <elf.h>
#include <sys/mman.h>

enum { MEMORY = 256 << 20, CODE_AT = 0x1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FD fd = memfd_create("code", MFD_CLOEXEC);
	AUTO_ARENA arena = { 0 };
	struct elf_file elf = { .segments = { { 0, size, CODE_AT, true } }, .segment_count = 1 };
	struct elf_section section = {
		.name = STR(".text"), .type = SHT_PROGBITS, .address = CODE_AT, .size = size
	};
	struct elf_sections sections = { .items = &section, .len = 1, .is_wide = true };
	struct unwind_follow follow = { fd, &sections };
	struct unwind_ranges ranges;
	struct unwind_rows rows;
	struct err err = { 0 };
	str code = { (const char *)data, size };

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    !unwind_ranges_init(&ranges, &elf, MEMORY, &arena, &err))
		return 0;
	for (size_t at = 0; at < size; at++)
		assert(x86_instruction_read(str_skip(code, at)).len <= size - at);
	if (!unwind_follow_list(&follow, &ranges, &err) ||
	    !unwind_ranges_rows(&ranges, &rows, &err))
		return 0;
	for (size_t i = 1; i < rows.rows.len; i++)
		assert(rows.rows.items[i].address > rows.rows.items[i - 1].address);
	return 0;
}
