// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_cfi - any contents of .eh_frame or .debug_frame make a table that opens, with the same
 * rows.
 *
 * The first byte selects the section and the machine; the other bytes are the contents of the
 * section, for a program with 64 KB of code at 0x1000.
 */
#include "base/hash.h"
#include "unwind/unwind_cfi_internal.h"
#include "unwind/unwind_file.h"
#include "unwind/unwind_writer_internal.h"

#include <assert.h>
#include <sys/mman.h>

enum { MEMORY = 256 << 20, CODE_AT = 0x1000, CODE_BYTES = 0x10000, SECTION_AT = 0x20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void table_check(const struct unwind_rows *rows, struct arena *arena)
{
	AUTO_FD fd = memfd_create("table", MFD_CLOEXEC);
	struct unwind_file_header header = { .version = UNWIND_FILE_VERSION };
	struct unwind_file file = { 0 };
	struct unwind_rule rule;
	struct err err = { 0 };
	str pages;

	if (rows->rows.len == 0 || fd < 0)
		return;
	assert(unwind_pages_write(rows, arena, &pages, &err));
	memcpy(header.magic, UNWIND_FILE_MAGIC, sizeof(header.magic));
	header.page_count = (uint32_t)(pages.len / UNWIND_PAGE_BYTES);
	header.checksum = hash_64(pages);
	if (write(fd, &header, sizeof(header)) != sizeof(header) ||
	    write(fd, pages.ptr, pages.len) != (ssize_t)pages.len)
		return;
	assert(unwind_file_open(&file, fd, &err));
	for (size_t i = 0; i < rows->rows.len; i++) {
		const struct unwind_row *row = &rows->rows.items[i];
		bool found = unwind_file_find(&file, rows->base + row->address, &rule);

		assert(found == (row->rule != UNWIND_RULE_NONE));
		assert(!found || memcmp(&rule, &rows->rules.items[row->rule], sizeof(rule)) == 0);
	}
	unwind_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct unwind_machine machines[] = { { 6, 7, 16, false },
							  { 29, 31, 30, true } };
	AUTO_ARENA arena = { 0 };
	struct elf_file *elf = arena_new(&arena, struct elf_file);
	struct unwind_cfi *cfi = arena_new(&arena, struct unwind_cfi);
	struct unwind_ranges ranges;
	struct unwind_rows rows;
	struct err err = { 0 };
	uint8_t flags = size ? data[0] : 0;
	bool is_eh = flags & 1;

	elf->segments[0] = (struct elf_segment){ 0, CODE_BYTES, CODE_AT, true };
	elf->segment_count = 1;
	cfi->machine = &machines[flags >> 1 & 1];
	cfi->ends_with_zero = flags & 4;
	cfi->section = (struct dwarf_frame_section){ str_skip((str){ (const char *)data, size }, 1),
						     SECTION_AT, is_eh, 8 };
	assert(unwind_ranges_init(&ranges, elf, MEMORY, &arena, &err));
	if (unwind_cfi_list(cfi, is_eh ? UNWIND_SOURCE_EH_FRAME : UNWIND_SOURCE_DEBUG_FRAME,
			    &ranges, &err) &&
	    unwind_ranges_rows(&ranges, &rows, &err))
		table_check(&rows, &arena);
	return 0;
}
