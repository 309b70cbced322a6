// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_table - any file is rejected, or lookups in it read only inside of it.
 *
 * A fuzzer cannot guess checksums: they are corrected before the table is opened, if the header
 * with the sizes of the parts is complete.
 */
#include "base/hash.h"
#include "symbols/symbol_format_internal.h"
#include "symbols/symbol_table.h"

#include <assert.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sums_make(char *image, size_t size)
{
	struct symbol_header header;
	uint64_t at = sizeof(header);

	if (size < sizeof(header))
		return;
	memcpy(&header, image, sizeof(header));
	for (enum symbol_part part = 0; part < SYMBOL_PART_COUNT; part++) {
		if (at > size || header.sizes[part] > size - at)
			return;
		header.hashes[part] = hash_64((str){ image + at, header.sizes[part] });
		at += (header.sizes[part] + 7) & ~7ULL;
	}
	header.checksum = hash_64(str_skip((str){ (const char *)&header, sizeof(header) },
					   offsetof(struct symbol_header, row_count)));
	memcpy(image, &header, sizeof(header));
}

static void lines_check(const struct symbol_table *table, uint64_t address)
{
	struct symbol_line lines[SYMBOL_LINES_MAX];
	size_t count = symbol_table_find(table, address, lines), bytes = 0;

	assert(count <= SYMBOL_LINES_MAX);
	for (size_t i = 0; i < count; i++) {
		assert(lines[i].system_name.len > 0);
		for (size_t k = 0; k < lines[i].system_name.len; k++)
			bytes += (uint8_t)lines[i].system_name.ptr[k];
		for (size_t k = 0; k < lines[i].name.len; k++)
			bytes += (uint8_t)lines[i].name.ptr[k];
		for (size_t k = 0; k < lines[i].file.len; k++)
			bytes += (uint8_t)lines[i].file.ptr[k];
	}
	assert(count == 0 || bytes < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FD fd = memfd_create("table", MFD_CLOEXEC);
	AUTO_ARENA arena = { 0 };
	char *image = arena_array(&arena, char, size);
	struct symbol_table table = { 0 };
	struct err err;

	if (fd < 0)
		return 0;
	if (size)
		memcpy(image, data, size);
	sums_make(image, size);
	if (write(fd, image, size) != (ssize_t)size || !symbol_table_open(&table, fd, &err))
		return 0;
	for (uint64_t address = 0; address < 1 << 14; address += 7)
		lines_check(&table, address);
	for (size_t i = 0; i + 8 <= size && i < 1 << 10; i += 8) {
		uint64_t address;

		memcpy(&address, data + i, sizeof(address));
		lines_check(&table, address);
		lines_check(&table, address - 1);
	}
	symbol_table_close(&table);
	return 0;
}
