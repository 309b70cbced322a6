// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_file - any file is rejected, or a search in it reads only inside of it.
 *
 * A fuzzer cannot guess checksums: the header of the file is corrected before it is opened.
 */
#include "base/hash.h"
#include "base/str.h"
#include "unwind/unwind_file.h"

#include <assert.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void header_make(char *image, size_t size)
{
	struct unwind_file_header header = { .version = UNWIND_FILE_VERSION };

	if (size < sizeof(header))
		return;
	memcpy(header.magic, UNWIND_FILE_MAGIC, sizeof(header.magic));
	header.page_count = (uint32_t)((size - sizeof(header)) / UNWIND_PAGE_BYTES);
	header.checksum = hash_64((str){ image + sizeof(header), size - sizeof(header) });
	memcpy(image, &header, sizeof(header));
}

/* Looks up every row, and the addresses around the rows. */
static void rows_walk(const struct unwind_file *file)
{
	uint64_t address = file->header->base, next, rows = 0;
	struct unwind_rule rule;

	for (; unwind_file_next(file, address, &next); address = next, rows++) {
		assert(next > address);
		if (unwind_file_find(file, address, &rule))
			assert(rule.cfa < UNWIND_CFA_COUNT);
		if (unwind_file_find(file, next - 1, &rule))
			assert(rule.cfa < UNWIND_CFA_COUNT);
	}
	assert(rows == file->header->row_count);
	assert(address == file->header->base + file->header->bytes);
	assert(!unwind_file_find(file, address, &rule));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FD fd = memfd_create("table", MFD_CLOEXEC);
	AUTO_ARENA arena = { 0 };
	char *image = arena_array(&arena, char, size);
	struct unwind_file file = { 0 };
	struct err err;

	if (fd < 0)
		return 0;
	if (size)
		memcpy(image, data, size);
	header_make(image, size);
	if (write(fd, image, size) != (ssize_t)size || !unwind_file_open(&file, fd, &err))
		return 0;
	rows_walk(&file);
	unwind_file_close(&file);
	return 0;
}
