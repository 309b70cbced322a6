// SPDX-License-Identifier: Apache-2.0
/*
 * elf_symbols - the functions that an ELF file's symbol table names.
 *
 * Each name with the addresses it stands for. Of several at one address the best is kept: a
 * function before a mere label, one that has a size, one that is known outside its file, one with
 * fewer underscores in front, a shorter one, the last in the table. What has no size reaches to the
 * next symbol of its section, or to the section's end; what has a size names nothing beyond it.
 */
#pragma once

#include "base/vec.h"
#include "object/elf_sections.h"

struct elf_symbol {
	uint64_t start, end;
	str name;
};

typedef VEC(struct elf_symbol) elf_symbols;

/* Of .symtab; of .dynsym where there is none or it names no function. Sorted by address. */
bool elf_symbols_read(int fd, const struct elf_sections *sections, struct arena *arena,
		      elf_symbols *ret_symbols, struct err *err) MUST_CHECK;
