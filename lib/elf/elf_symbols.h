// SPDX-License-Identifier: Apache-2.0
/*
 * elf_symbols - the functions in an ELF symbol table (.symtab or .dynsym).
 *
 * Each symbol has an address range. If several symbols start at one address, one is kept, by these
 * rules in order: a function before a label, a symbol with a size before one without, global before
 * weak before local, fewer leading underscores, the shorter name, the last one in the table. A
 * symbol with a size covers only that size. A symbol without a size ends at the next symbol of its
 * section, or at the end of the section.
 */
#pragma once

#include "base/vec.h"
#include "elf/elf_sections.h"

struct elf_symbol {
	uint64_t start, end;
	str name;
};

typedef VEC(struct elf_symbol) elf_symbols;

/*
 * Reads .symtab, or .dynsym if .symtab is absent or has no function. The symbols are sorted by
 * address and are in the arena. ERR_LIMIT: a table is larger than ELF_SYMBOLS_BYTES_MAX.
 */
bool elf_symbols_read(int fd, const struct elf_sections *sections, struct arena *arena,
		      elf_symbols *ret_symbols, struct err *err) MUST_CHECK;
