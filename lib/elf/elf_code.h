// SPDX-License-Identifier: Apache-2.0
/*
 * elf_code - reads the code of a program by address, through a buffer.
 *
 * Reading in ascending order of addresses is fast: each miss fills the buffer from that address on.
 * The caller sets fd and elf, zeroes the rest, and keeps both alive. There is nothing to close. One
 * thread.
 */
#pragma once

#include "elf/elf_file.h"

enum { ELF_CODE_BYTES = 64 << 10 }; /* size of the buffer */

struct elf_code {
	int fd;
	const struct elf_file *elf;
	/* private */
	uint64_t address;
	size_t len;
	char bytes[ELF_CODE_BYTES];
};

/*
 * The len bytes at this virtual address; len is at most ELF_CODE_BYTES. They are in the buffer and
 * valid until the next call. Empty: the file does not contain all these bytes, or reading failed.
 */
str elf_code_at(struct elf_code *code, uint64_t address, size_t len);
