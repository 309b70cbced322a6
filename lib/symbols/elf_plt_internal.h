// SPDX-License-Identifier: Apache-2.0
/*
 * elf_plt - names for PLT stubs, through which a program calls shared libraries: "memcpy@plt".
 *
 * ELF symbol tables do not contain these stubs. Each stub jumps to the address in a slot of the
 * global offset table (GOT), and a relocation names the symbol of that slot. For x86-64 and arm64.
 * One thread per arena.
 */
#pragma once

#include "elf/elf_symbols.h"

/*
 * Finds the stubs; they are sorted by address and in the arena. The list is empty if the file has
 * no stubs, or if it does not contain their bytes (a debug file). ERR_LIMIT: a section is larger
 * than ELF_SYMBOLS_BYTES_MAX.
 */
bool elf_plt_read(int fd, const struct elf_sections *sections, struct arena *arena,
		  elf_symbols *ret_symbols, struct err *err) MUST_CHECK;
