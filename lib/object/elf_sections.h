// SPDX-License-Identifier: Apache-2.0
/*
 * elf_sections - the section headers of an ELF file, as a list.
 *
 * Read by ourselves, not by libelf: that allocates for as many headers as a file claims to have,
 * reads whole tables of names and inflates them where they say that they are compressed. Here all
 * is bounded (limits.h) and each section with contents lies inside the file, so a file that was cut
 * off is an error. Nothing of the contents is read but by elf_section_read().
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "object/limits.h"

struct elf_section {
	str name;      /* may be cut: at the end of the table of names */
	uint32_t type; /* SHT_* */
	uint32_t link; /* of another section: a symbol table's names */
	uint64_t flags, address, offset, size, alignment;
};

struct elf_sections {
	struct elf_section *items; /* in the arena */
	size_t len;
	uint16_t type;         /* ET_* */
	bool is_wide;          /* of 64 bits */
	uint64_t table_offset; /* of the headers, in the file */
	uint64_t names_index;  /* of the section that holds the names */
};

/* ERR_INVALID: no ELF file, or one that contradicts itself; ERR_LIMIT: more than limits.h allows.
 */
bool elf_sections_read(int fd, struct arena *arena, struct elf_sections *ret_sections,
		       struct err *err) MUST_CHECK;

/* The first of that name; NULL: none. */
const struct elf_section *elf_sections_find(const struct elf_sections *sections, str name);

/* Whether the file holds its bytes: it is there, of a type with contents, and not empty. */
bool elf_section_has_bytes(const struct elf_section *section);

/* The section's bytes, in the arena; none where it has none. ERR_LIMIT: they are more than max. */
bool elf_section_read(int fd, const struct elf_section *section, uint64_t max, struct arena *arena,
		      str *ret_bytes, struct err *err) MUST_CHECK;
