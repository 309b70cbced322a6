// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_reach - finds the end of functions whose symbols have no size, by their instructions.
 *
 * The functions in assembly of musl have no sizes, and .dynsym does not have all functions: between
 * memset and the next symbol of Alpine's libc lies __clone, the root of every thread. One thread
 * per arena.
 */
#pragma once

#include "elf/elf_symbols.h"

/*
 * Replaces the end of each symbol with end_is_guess. A function ends after a return, a jump or a
 * call that no branch of its own passes; a call, because it may not return. If the code is not in
 * the file, has more than SYMBOL_REACH_CODE_MAX bytes, or is that of an unknown machine, the symbol
 * becomes empty. It fails as elf_section_read().
 */
bool symbol_reach_find(int fd, const struct elf_sections *sections, struct arena *arena,
		       elf_symbols *symbols, struct err *err) MUST_CHECK;
