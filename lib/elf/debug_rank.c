// SPDX-License-Identifier: Apache-2.0
#include "elf/debug_rank.h"

#include "base/reader.h"
#include "elf/elf_compression.h"
#include "elf/go_sections.h"

#include <elf.h>

enum { DWARF_OLDEST = 2, DWARF_NEWEST = 5, PEEK_LEN = 32 };

const char *const debug_rank_names[DEBUG_RANK_COUNT] = {
	[DEBUG_NOTHING] = "nothing", [DEBUG_DYNSYM] = "dynsym", [DEBUG_MINI] = "mini",
	[DEBUG_SYMTAB] = "symtab",   [DEBUG_GO] = "go",         [DEBUG_DWARF] = "dwarf",
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

/* A unit header: its length, then a known version. */
static bool unit_is_plausible(str bytes, uint64_t section_len)
{
	struct reader r = reader_of(bytes);
	uint64_t len = reader_u32(&r), head = 4;

	if (len == UINT32_MAX) { /* 64-bit DWARF */
		len = reader_u64(&r);
		head = 12;
	}

	uint16_t version = reader_u16(&r);

	return !r.failed && len >= 2 && section_len >= head && len <= section_len - head &&
	       version >= DWARF_OLDEST && version <= DWARF_NEWEST;
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
	return unit_is_plausible(bytes, info->size);
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
		contents.rank = DEBUG_DWARF;
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
