// SPDX-License-Identifier: Apache-2.0
/*
 * debug_rank - how much of a program's source a file can tell: which of two files is the better
 * one.
 *
 * Told from the section headers and the first bytes of .debug_info. Nothing is believed of a
 * section that has no contents, as in a binary's stripped twin.
 */
#pragma once

#include "object/elf_sections.h"

enum debug_rank {
	DEBUG_NOTHING,
	DEBUG_DYNSYM, /* names of what it exports */
	DEBUG_MINI,   /* .gnu_debugdata: names of its functions, compressed */
	DEBUG_SYMTAB, /* names of functions */
	DEBUG_GO,     /* .gopclntab: functions, files, lines */
	DEBUG_DWARF,  /* functions, files, lines, what was inlined */
	DEBUG_RANK_COUNT
};

/* "nothing", "dynsym", "mini", "symtab", "go", "dwarf", by rank. */
extern const char *const debug_rank_names[DEBUG_RANK_COUNT];

/* False: not a name of the above. */
bool debug_rank_parse(str name, enum debug_rank *ret_rank) MUST_CHECK;

struct debug_contents {
	enum debug_rank rank;
	bool has_code; /* of the program: it can stand for the executable */
};

struct debug_contents debug_contents_of(int fd, const struct elf_sections *sections);
