// SPDX-License-Identifier: Apache-2.0
/*
 * debug_rank - ranks files by the quality of their debug information, to choose the better of two.
 *
 * The rank follows from the section headers and the headers of the first units of .debug_info. A
 * section header without contents, as in a stripped binary or a debug file, does not count. Any
 * thread.
 */
#pragma once

#include "elf/elf_sections.h"

enum debug_rank {
	DEBUG_NOTHING,
	DEBUG_DYNSYM, /* names of exported functions */
	DEBUG_MINI,   /* .gnu_debugdata: names of functions, compressed */
	DEBUG_SYMTAB, /* .symtab: names of functions */
	DEBUG_SPLIT,  /* DWARF whose entries are in other files (-gsplit-dwarf): as DEBUG_SYMTAB */
	DEBUG_GO,     /* .gopclntab and the data that it needs: as DWARF */
	DEBUG_DWARF,  /* functions, files, lines, inlined functions */
	DEBUG_RANK_COUNT
};

/* "nothing", "dynsym", "mini", "symtab", "split", "go", "dwarf", by rank. */
extern const char *const debug_rank_names[DEBUG_RANK_COUNT];

/* False, with *ret_rank unchanged: not one of the names in debug_rank_names. */
bool debug_rank_parse(str name, enum debug_rank *ret_rank) MUST_CHECK;

struct debug_contents {
	enum debug_rank rank;
	bool has_code; /* all code is present: the file can replace the executable */
};

/* Cannot fail: if the first bytes of .debug_info cannot be read, the file counts as one without
 * DWARF. Compressed units are not looked at: they count as DEBUG_DWARF. */
struct debug_contents debug_contents_of(int fd, const struct elf_sections *sections);
