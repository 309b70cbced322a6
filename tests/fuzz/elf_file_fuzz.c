#include "object/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file elf = { 0 };
	struct err err;
	uint64_t address;

	if (elf_file_read_image(&elf, (str){ (const char *)data, size }, &err) &&
	    (elf.build_id_len > sizeof(elf.build_id) || elf.segment_count > ELF_SEGMENTS_MAX))
		__builtin_trap();
	(void)!elf_file_address(elf.segments, elf.segment_count, size, &address);
	return 0;
}
