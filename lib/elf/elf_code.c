// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_code.h"

#include <errno.h>

static bool is_at_hand(const struct elf_code *code, uint64_t address, size_t len)
{
	return address >= code->address && address - code->address <= code->len &&
	       len <= code->len - (address - code->address);
}

static void read_ahead(struct elf_code *code, uint64_t address)
{
	uint64_t offset, left;
	ssize_t n;

	code->len = 0;
	code->address = address;
	if (!elf_file_offset(code->elf, address, &offset, &left) || offset > INT64_MAX)
		return;
	if (left > sizeof(code->bytes))
		left = sizeof(code->bytes);
	do
		n = pread(code->fd, code->bytes, (size_t)left, (off_t)offset);
	while (n < 0 && errno == EINTR);
	code->len = n > 0 ? (size_t)n : 0;
}

str elf_code_at(struct elf_code *code, uint64_t address, size_t len)
{
	if (!is_at_hand(code, address, len))
		read_ahead(code, address);
	if (!is_at_hand(code, address, len))
		return (str){ 0 };
	return (str){ code->bytes + (address - code->address), len };
}
