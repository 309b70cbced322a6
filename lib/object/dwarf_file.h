// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_file - the sections of a file's DWARF, and the units in them.
 *
 * Sections are slices of the mapped file, or inflated into the arena: by zlib or zstd, as their
 * headers say, or as "ZLIB" in the .zdebug_* of old. Units are indexed by their headers; what their
 * first entry says is read when they are first asked for. Versions 2 to 5.
 *
 * What dwz moved stands in another such file: `alt`.
 */
#pragma once

#include "base/map.h"
#include "base/reader.h"
#include "base/vec.h"
#include "object/elf_sections.h"

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_SECTION_COUNT
};

struct dwarf_abbrevs;
struct dwarf_file;

struct dwarf_unit {
	struct dwarf_file *file;
	uint64_t start, end; /* in .debug_info: from the header on */
	uint64_t entries;    /* where the first entry is */
	uint64_t abbrevs_at;
	uint16_t version;
	uint8_t type; /* DW_UT_* */
	uint8_t address_size, offset_size;
	/* after dwarf_unit_load() */
	bool is_loaded, is_broken;
	const struct dwarf_abbrevs *abbrevs;
	uint64_t low_pc;
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	uint16_t language; /* DW_LANG_*; 0: it says none */
	uint64_t lines_at; /* in .debug_line; UINT64_MAX: it has no lines */
	str name, directory;
};

struct dwarf_file {
	str sections[DWARF_SECTION_COUNT];
	struct dwarf_file *alt; /* NULL: none, or not at hand */
	VEC(struct dwarf_unit) units;
	/* private */
	struct arena *arena;
	struct map abbrevs; /* by where they are and the sizes of the unit's forms */
	void *image;
	size_t image_len;
	uint64_t memory_max;
};

/*
 * Maps the file and indexes its units. A file without DWARF has none. ERR_INVALID: a section is not
 * what its header says; ERR_LIMIT: inflated they would be more than memory_max.
 */
bool dwarf_file_open(struct dwarf_file *file, int fd, const struct elf_sections *sections,
		     uint64_t memory_max, struct arena *arena, struct err *err) MUST_CHECK;
void dwarf_file_close(struct dwarf_file *file);

/* Read the unit's first entry and its abbreviations, once. False: they make no sense. */
bool dwarf_unit_load(struct dwarf_unit *unit) MUST_CHECK;

/* The unit that holds this place of .debug_info; NULL: none does. */
struct dwarf_unit *dwarf_unit_at(struct dwarf_file *file, uint64_t at);
