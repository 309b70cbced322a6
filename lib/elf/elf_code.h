// SPDX-License-Identifier: Apache-2.0
/*
 * elf_code - reads the code of a program by address, through a buffer.
 *
 * Reading in ascending order of addresses is fast: each miss fills the buffer from that address on.
 * The caller owns the descriptor and the struct elf_file.
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
 * The len bytes at this address, up to ELF_CODE_BYTES. They are valid until the next call. Empty:
 * the file does not contain all of them, or reading failed.
 */
str elf_code_at(struct elf_code *code, uint64_t address, size_t len);
