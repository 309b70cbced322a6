// SPDX-License-Identifier: Apache-2.0
/*
 * elf_symbols - the functions in an ELF symbol table (.symtab or .dynsym).
 *
 * Each symbol has an address range. If several symbols start at one address, one is kept, by these
 * rules in order: a function before a label, a symbol with a size before one without, a public one
 * before a local one, fewer leading underscores, global before weak, the shorter name, the last one
 * in the table. So of recvmsg and __libc_recvmsg the public name is kept. A
 * symbol with a size covers only that size. A symbol without a size ends at the next symbol of its
 * section, or at the end of the section. One thread per arena.
 */
#pragma once

#include "base/vec.h"
#include "elf/elf_sections.h"

struct elf_symbol {
	uint64_t start, end; /* virtual addresses as linked: [start, end) */
	str name;
	str file;       /* source file of a local symbol, without a directory; empty: unknown */
	bool is_public; /* a function that is global or weak */
	/* It has no size, and .dynsym does not have all functions: others may lie before `end`. */
	bool end_is_guess;
};

typedef VEC(struct elf_symbol) elf_symbols;

/* True for a name that glibc gives a function for its own calls of it: "__GI_recvmsg". */
static inline bool elf_symbol_is_internal(str name)
{
	return str_starts_with(name, STR("__GI_"));
}

/*
 * Reads .symtab, or .dynsym if .symtab is absent or has no function. The symbols are sorted by
 * address; symbols and names are in the arena. Malformed symbols are skipped; a file without
 * symbols has an empty list. ERR_LIMIT: a table or its strings are larger than
 * ELF_SYMBOLS_BYTES_MAX; other codes as elf_section_read(). After a failure the list is empty.
 */
bool elf_symbols_read(int fd, const struct elf_sections *sections, struct arena *arena,
		      elf_symbols *ret_symbols, struct err *err) MUST_CHECK;

/* As elf_symbols_read(), with all symbols of an address, and the bound max_bytes. `end` of a symbol
 * without a size is the end of its section. */
bool elf_symbols_read_all(int fd, const struct elf_sections *sections, uint64_t max_bytes,
			  struct arena *arena, elf_symbols *ret_symbols,
			  struct err *err) MUST_CHECK;
