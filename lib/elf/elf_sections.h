// SPDX-License-Identifier: Apache-2.0
/*
 * elf_sections - the section headers of an ELF file, as a list.
 *
 * The file is untrusted input, and everything is bounded (limits.h). Each section with contents is
 * checked to lie inside the file, so a truncated file is an error. Only elf_section_read() reads
 * the contents of sections. The caller keeps the descriptor. One thread per arena.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "elf/limits.h"

struct elf_section {
	str name;      /* ends at the end of the string table if that has no NUL */
	uint32_t type; /* SHT_* */
	uint32_t link; /* index of a related section: the string table of a symbol table */
	uint64_t flags, address, offset, size, alignment;
};

struct elf_sections {
	struct elf_section *items; /* in the arena */
	size_t len;
	uint16_t type;         /* ET_* */
	uint16_t machine;      /* EM_* */
	bool is_wide;          /* a 64-bit file */
	uint64_t table_offset; /* file offset of the section headers */
	uint64_t names_index;  /* index of the section with the names of sections */
};

/*
 * Reads the section headers into the arena; a file without them has len 0. ERR_INVALID: not a
 * little-endian ELF file, truncated, or its headers are inconsistent; ERR_LIMIT: more than
 * ELF_HEADERS_MAX headers or ELF_NAMES_MAX bytes of names; ERR_IO: the file cannot be read. After a
 * failure *ret_sections is unchanged.
 */
bool elf_sections_read(int fd, struct arena *arena, struct elf_sections *ret_sections,
		       struct err *err) MUST_CHECK;

/* The first section with that name, borrowed from `sections`; NULL: there is no such section. */
const struct elf_section *elf_sections_find(const struct elf_sections *sections, str name);

/* True if the section exists (not NULL), its type has contents in the file, and it is not empty. */
bool elf_section_has_bytes(const struct elf_section *section);

/*
 * Reads the section's bytes into the arena; empty if elf_section_has_bytes() is false, so section
 * may be NULL. ERR_LIMIT: the section is larger than max bytes; ERR_INVALID: the file became
 * shorter; ERR_IO: it cannot be read. After a failure *ret_bytes is empty.
 */
bool elf_section_read(int fd, const struct elf_section *section, uint64_t max, struct arena *arena,
		      str *ret_bytes, struct err *err) MUST_CHECK;
