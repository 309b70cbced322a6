// SPDX-License-Identifier: Apache-2.0
/*
 * elf_code - a program's code, read from its file piece by piece, in the order of addresses.
 */
#pragma once

#include "object/elf_file.h"

enum { ELF_CODE_BYTES = 64 << 10 }; /* that are at hand at once */

struct elf_code {
	int fd;
	const struct elf_file *elf;
	/* private */
	uint64_t address;
	size_t len;
	char bytes[ELF_CODE_BYTES];
};

/* len bytes, up to ELF_CODE_BYTES, good until the next call; empty: they are not all there. */
str elf_code_at(struct elf_code *code, uint64_t address, size_t len);
