// SPDX-License-Identifier: Apache-2.0
/*
 * elf_sections - for any input, sections are inside the file, and ranking and the check of
 * compressed sections read only inside of it.
 */
#include "elf/debug_rank.h"
#include "elf/elf_compression.h"

#include <assert.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC);
	struct elf_sections sections;
	struct err err;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    !elf_sections_read(fd, &arena, &sections, &err))
		return 0;
	assert(sections.len <= ELF_HEADERS_MAX);
	for (size_t i = 0; i < sections.len; i++) {
		const struct elf_section *section = &sections.items[i];

		assert(section->name.len <= size);
		if (elf_section_has_bytes(section))
			assert(section->offset <= size && section->size <= size - section->offset);
	}
	assert(debug_contents_of(fd, &sections).rank < DEBUG_RANK_COUNT);
	assert(elf_compression_check(fd, &sections, &err) || err.code == ERR_LIMIT);
	return 0;
}
