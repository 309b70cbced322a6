// SPDX-License-Identifier: Apache-2.0
#include "elf/debug_rank.h"

#include "base/reader.h"
#include "elf/elf_compression.h"
#include "elf/go_sections.h"

#include <dwarf.h>
#include <elf.h>

enum {
	DWARF_OLDEST = 2,
	DWARF_NEWEST = 5,
	PEEK_LEN = 32,
	ENTRY_MAX = 64, /* bytes of the abbreviation of a skeleton */
	UNITS_MAX = 64, /* the first ones may be of object files that were not built split */
};

const char *const debug_rank_names[DEBUG_RANK_COUNT] = {
	[DEBUG_NOTHING] = "nothing", [DEBUG_DYNSYM] = "dynsym", [DEBUG_MINI] = "mini",
	[DEBUG_SYMTAB] = "symtab",   [DEBUG_SPLIT] = "split",   [DEBUG_GO] = "go",
	[DEBUG_DWARF] = "dwarf",
};

bool debug_rank_parse(str name, enum debug_rank *ret_rank)
{
	for (enum debug_rank rank = 0; rank < DEBUG_RANK_COUNT; rank++)
		if (str_eq(name, str_from(debug_rank_names[rank]))) {
			*ret_rank = rank;
			return true;
		}
	return false;
}

static bool has(const struct elf_sections *sections, const char *name)
{
	return elf_section_has_bytes(elf_sections_find(sections, str_from(name)));
}

struct unit_header {
	uint64_t len; /* with the header */
	uint16_t version;
	uint8_t type;       /* DW_UT_*; 0 before version 5 */
	uint64_t abbrev_at; /* before version 5 */
};

/* A unit header: its length, then a known version. False: it is not one. */
static bool unit_read(str bytes, uint64_t section_len, struct unit_header *unit)
{
	struct reader r = reader_of(bytes);
	uint64_t len = reader_u32(&r), head = 4;

	if (len == UINT32_MAX) { /* 64-bit DWARF */
		len = reader_u64(&r);
		head = 12;
	}
	unit->version = reader_u16(&r);
	unit->type = 0;
	if (unit->version >= 5)
		unit->type = reader_u8(&r);
	else
		unit->abbrev_at = head == 4 ? reader_u32(&r) : reader_u64(&r);
	if (r.failed || section_len < head || len > section_len - head)
		return false;
	unit->len = head + len;
	return unit->version >= DWARF_OLDEST && unit->version <= DWARF_NEWEST;
}

/* GNU's extension of version 4 marks a skeleton by an attribute of its only entry. */
static bool is_skeleton(int fd, const struct elf_sections *sections, const struct unit_header *unit)
{
	static const uint8_t attribute[] = { (DW_AT_GNU_dwo_name & 0x7f) | 0x80,
					     DW_AT_GNU_dwo_name >> 7 };
	const struct elf_section *abbrev = elf_sections_find(sections, STR(".debug_abbrev"));
	char room[ENTRY_MAX];

	if (unit->version >= 5)
		return unit->type == DW_UT_skeleton;
	if (unit->version < 4 || !elf_section_has_bytes(abbrev) || unit->abbrev_at >= abbrev->size)
		return false;

	uint64_t left = abbrev->size - unit->abbrev_at;
	ssize_t n = pread(fd, room, left < sizeof(room) ? (size_t)left : sizeof(room),
			  (off_t)(abbrev->offset + unit->abbrev_at));

	return n > 0 && memmem(room, (size_t)n, attribute, sizeof(attribute));
}

/* True if the entries of units are in another file. */
static bool has_skeletons(int fd, const struct elf_sections *sections)
{
	const struct elf_section *info = elf_sections_find(sections, STR(".debug_info"));
	struct unit_header unit = { 0 };
	char room[PEEK_LEN];

	if (!has(sections, ".debug_addr") || has(sections, ".debug_cu_index") ||
	    !elf_section_has_bytes(info) || (info->flags & SHF_COMPRESSED))
		return false;
	for (uint64_t at = 0, i = 0; at < info->size && i < UNITS_MAX; at += unit.len, i++) {
		uint64_t left = info->size - at;
		ssize_t n = pread(fd, room, left < PEEK_LEN ? (size_t)left : PEEK_LEN,
				  (off_t)(info->offset + at));

		if (n <= 0 || !unit_read((str){ room, (size_t)n }, left, &unit))
			return false;
		if (is_skeleton(fd, sections, &unit))
			return true;
	}
	return false;
}

static bool has_units(int fd, const struct elf_sections *sections)
{
	const struct elf_section *info = elf_sections_find(sections, STR(".debug_info"));
	bool is_old = !info;
	struct elf_compression compression;
	char room[PEEK_LEN];

	if (is_old) /* compressed in the old way, without SHF_COMPRESSED */
		info = elf_sections_find(sections, STR(".zdebug_info"));
	if (!elf_section_has_bytes(info))
		return false;

	size_t len = info->size < sizeof(room) ? (size_t)info->size : sizeof(room);
	ssize_t n = pread(fd, room, len, (off_t)info->offset);
	str bytes = { room, n > 0 ? (size_t)n : 0 };

	if (is_old)
		return str_starts_with(bytes, STR("ZLIB"));
	if (elf_compression_read(info, sections->is_wide, &bytes, &compression))
		return compression.len > 0 && (compression.type == ELFCOMPRESS_ZLIB ||
					       compression.type == ELF_COMPRESSION_ZSTD);

	struct unit_header unit;

	return unit_read(bytes, info->size, &unit);
}

/* All sections with code must have contents: a debug file may keep only the stubs of .plt. The
 * extract of a library whose symbols have no sizes has its code, but not the other sections. */
static bool has_code(const struct elf_sections *sections)
{
	static const str others[] = { STR(".dynamic"), STR(".rodata"), STR(".eh_frame") };
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		const struct elf_section *section = elf_sections_find(sections, others[i]);

		if (section && section->type == SHT_NOBITS)
			return false;
	}
	for (size_t i = 0; i < sections->len; i++) {
		const struct elf_section *section = &sections->items[i];

		if (!(section->flags & SHF_EXECINSTR) || section->size == 0)
			continue;
		if (!elf_section_has_bytes(section))
			return false;
		found = true;
	}
	return found;
}

struct debug_contents debug_contents_of(int fd, const struct elf_sections *sections)
{
	struct debug_contents contents = { .has_code = has_code(sections) };

	if (has_units(fd, sections) &&
	    (has(sections, ".debug_abbrev") || has(sections, ".zdebug_abbrev")))
		contents.rank = has_skeletons(fd, sections) ? DEBUG_SPLIT : DEBUG_DWARF;
	else if (go_sections_are_complete(sections))
		contents.rank = DEBUG_GO;
	else if (has(sections, ".symtab"))
		contents.rank = DEBUG_SYMTAB;
	else if (has(sections, ".gnu_debugdata"))
		contents.rank = DEBUG_MINI;
	else if (has(sections, ".dynsym"))
		contents.rank = DEBUG_DYNSYM;
	return contents;
}
