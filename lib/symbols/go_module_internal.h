// SPDX-License-Identifier: Apache-2.0
/*
 * go_module - finds moduledata, the runtime's description of a Go program in its data.
 *
 * It has the two addresses that .gopclntab lacks: the base of the addresses of functions, and the
 * base of the functions' data. A program that is linked by another linker than Go's own has other
 * code before that of Go, so the start of .text is not the base. One thread per arena.
 */
#pragma once

#include "elf/elf_sections.h"

/* What the table knows about its moduledata. */
struct go_module_key {
	uint64_t table, names; /* addresses of the table and of its names */
	uint64_t first, end;   /* of the code, from the base of the addresses of functions */
	uint8_t pointer_size;
	bool is_old; /* Go 1.18 and 1.19: there is no coverage data before the functions' data */
};

struct go_module {
	uint64_t text; /* base of the addresses of functions; 0: moduledata was not found */
	uint64_t data; /* base of the functions' data */
};

/*
 * Searches the program's data, then its relocations: in a position-independent program the words of
 * moduledata can be zeros that the dynamic linker replaces. The addresses of the table, of the
 * names, of the first function and of the end must match. ERR_LIMIT: a section is larger than
 * GO_TABLE_MAX; other codes as elf_section_read(). After a failure *ret_module is unchanged.
 */
bool go_module_find(const struct go_module_key *key, int fd, const struct elf_sections *sections,
		    struct arena *arena, struct go_module *ret_module, struct err *err) MUST_CHECK;
