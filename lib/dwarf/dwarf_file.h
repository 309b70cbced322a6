// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_file - the DWARF sections of a file and an index of its units. DWARF 2 to 5.
 *
 * A section is a slice of the mapped file, or, if it is compressed (zlib, zstd, or the old
 * .zdebug_*), it is decompressed into the arena. Opening a file indexes the units by their headers
 * only; dwarf_unit_load() reads the first entry of a unit on first use.
 *
 * Data that dwz moved to a common file is in another struct dwarf_file: `alt`. All texts borrow
 * from the mapping or the arena. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/reader.h"
#include "base/vec.h"
#include "elf/elf_sections.h"

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
	DWARF_CU_INDEX, /* of a package */
	DWARF_SECTION_COUNT
};

struct dwarf_abbrevs;
struct dwarf_file;

struct dwarf_unit {
	struct dwarf_file *file;
	uint64_t start, end; /* in .debug_info, header included */
	uint64_t entries;    /* offset of the first entry */
	uint64_t abbrevs_at;
	uint16_t version;
	uint8_t type; /* DW_UT_* */
	uint8_t address_size, offset_size;
	/* set by dwarf_unit_load() */
	bool is_loaded, is_broken;
	const struct dwarf_abbrevs *abbrevs;
	uint64_t low_pc;
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	uint16_t language; /* DW_LANG_*; 0: not given */
	uint64_t lines_at; /* offset in .debug_line; UINT64_MAX: no line table */
	str name, directory;
	bool is_skeleton; /* its entries are in a .dwo or .dwp file (dwarf_package.h) */
	uint64_t dwo_id;  /* of a skeleton or a split unit; in the header since version 5 */
};

struct dwarf_file {
	str sections[DWARF_SECTION_COUNT];
	struct dwarf_file *alt; /* dwz's common file, set by the caller; NULL: absent */
	VEC(struct dwarf_unit) units;
	/* private */
	struct arena *arena;
	struct map abbrevs; /* by offset and struct dwarf_sizes */
	void *image;
	size_t image_len;
	uint64_t memory_max;
};

/*
 * Maps the file and indexes its units; a file without DWARF has no units. The caller keeps the
 * descriptor, which may be closed afterwards. The struct must not move: its units point to it.
 * ERR_INVALID: a section is truncated or cannot be decompressed; ERR_LIMIT: a decompressed section
 * would exceed memory_max, the limit of the arena in bytes, or the sections claim too much
 * (elf_compression_check()); ERR_IO: the file cannot be mapped.
 * After a failure nothing is mapped. dwarf_file_close() unmaps the file and accepts a zeroed
 * struct.
 */
bool dwarf_file_open(struct dwarf_file *file, int fd, const struct elf_sections *sections,
		     uint64_t memory_max, struct arena *arena, struct err *err) MUST_CHECK;
void dwarf_file_close(struct dwarf_file *file);

/* The same for a package of split DWARF (.dwp), whose units are not indexed: dwarf_package_find()
 * finds them. */
bool dwarf_package_open(struct dwarf_file *package, int fd, const struct elf_sections *sections,
			uint64_t memory_max, struct arena *arena, struct err *err) MUST_CHECK;

/* Indexes the units of a file whose sections the caller has set, and which is not opened. */
void dwarf_file_index(struct dwarf_file *file, uint64_t memory_max, struct arena *arena);

/* Reads the unit's first entry and its abbreviations, once. False, in each later call too: they are
 * malformed, or the arena exceeds memory_max. */
bool dwarf_unit_load(struct dwarf_unit *unit) MUST_CHECK;

/* The unit that contains this offset of .debug_info, borrowed from the file; NULL: no unit does. */
struct dwarf_unit *dwarf_unit_at(struct dwarf_file *file, uint64_t at);
