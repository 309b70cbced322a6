// SPDX-License-Identifier: Apache-2.0
/*
 * elf_plt - names for the stubs through which a program calls other libraries: "memcpy@plt".
 *
 * No symbol table names them. Each jumps to where a word of the global offset table points to, and
 * a relocation says whose address that word becomes. x86-64 and arm64.
 */
#pragma once

#include "elf_symbols.h"

/* Sorted by address; none where the file has no stubs, or not their bytes. */
bool elf_plt_read(int fd, const struct elf_sections *sections, struct arena *arena,
		  elf_symbols *ret_symbols, struct err *err) MUST_CHECK;
