// SPDX-License-Identifier: Apache-2.0
/*
 * elf_file - any file is read or rejected, without a read out of bounds; the htlhash can be
 * computed for any file.
 */
#include "elf/elf_file.h"
#include "elf/htlhash.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str image = { (const char *)data, size };
	struct elf_file elf = { 0 };
	struct err err = { 0 };
	uint64_t address;
	htlhash hash;

	assert(htlhash_of_image(image, &hash, &err));
	if (!elf_file_read_image(&elf, image, &err)) {
		assert(err.code != ERR_NONE && err.msg[0]);
		return 0;
	}
	assert(elf.build_id_len <= sizeof(elf.build_id) && elf.segment_count <= ELF_SEGMENTS_MAX);
	for (size_t i = 0; i < elf.segment_count; i++)
		(void)!elf_file_address(elf.segments, elf.segment_count, elf.segments[i].offset,
					&address);
	(void)!elf_file_address(elf.segments, elf.segment_count, size, &address);
	return 0;
}
