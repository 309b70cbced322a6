// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_file.h"

#include "base/sorted.h"
#include "dwarf/dwarf_abbrev.h"
#include "dwarf/dwarf_inflate.h"
#include "dwarf/dwarf_value.h"
#include "elf/elf_compression.h"

#include <dwarf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const char *const section_names[DWARF_SECTION_COUNT] = {
	[DWARF_INFO] = "info", [DWARF_ABBREV] = "abbrev",     [DWARF_LINE] = "line",
	[DWARF_STR] = "str",   [DWARF_LINE_STR] = "line_str", [DWARF_STR_OFFSETS] = "str_offsets",
	[DWARF_ADDR] = "addr", [DWARF_RANGES] = "ranges",     [DWARF_RNGLISTS] = "rnglists",
};
static const char *const package_names[DWARF_SECTION_COUNT] = {
	[DWARF_INFO] = "info.dwo",         [DWARF_ABBREV] = "abbrev.dwo",
	[DWARF_STR] = "str.dwo",           [DWARF_STR_OFFSETS] = "str_offsets.dwo",
	[DWARF_RNGLISTS] = "rnglists.dwo", [DWARF_CU_INDEX] = "cu_index",
};

/* .debug_NAME, or the old .zdebug_NAME. */
static const struct elf_section *section_find(const struct elf_sections *sections, const char *name)
{
	char text[32];
	const struct elf_section *section;

	snprintf(text, sizeof(text), ".debug_%s", name);
	section = elf_sections_find(sections, str_from(text));
	if (elf_section_has_bytes(section))
		return section;
	snprintf(text, sizeof(text), ".zdebug_%s", name);
	section = elf_sections_find(sections, str_from(text));
	return elf_section_has_bytes(section) ? section : NULL;
}

static bool sections_load(struct dwarf_file *file, const struct elf_sections *sections,
			  const char *const *names, struct err *err)
{
	for (enum dwarf_section i = 0; i < DWARF_SECTION_COUNT; i++) {
		const struct elf_section *section =
			names[i] ? section_find(sections, names[i]) : NULL;
		str image = { file->image, file->image_len }, bytes;
		uint64_t held = file->arena->size;
		uint64_t left = held < file->memory_max ? file->memory_max - held : 0;

		if (!section)
			continue;
		bytes = str_skip(image, section->offset);
		if (section->size > bytes.len)
			return err_set(err, ERR_INVALID,
				       "the file became shorter while it was read");
		bytes.len = section->size;
		if (!dwarf_inflate(section, sections->is_wide, bytes, left, file->arena,
				   &file->sections[i], err))
			return false;
	}
	return true;
}

/* Reads a unit header. False: malformed or truncated. */
static bool unit_head_read(struct reader *r, uint64_t at, struct dwarf_unit *unit)
{
	size_t before = reader_left(r);
	uint64_t len = reader_u32(r);

	unit->offset_size = 4;
	if (len == UINT32_MAX) {
		len = reader_u64(r);
		unit->offset_size = 8;
	}
	if (r->failed || len > reader_left(r))
		return false;

	uint64_t head = before - reader_left(r);

	unit->start = at;
	unit->end = at + head + len;
	unit->version = reader_u16(r);
	unit->type = DW_UT_compile;
	if (unit->version >= 5)
		unit->type = reader_u8(r);
	if (unit->version >= 5)
		unit->address_size = reader_u8(r);
	unit->abbrevs_at = dwarf_word(r, unit->offset_size);
	if (unit->version < 5)
		unit->address_size = reader_u8(r);
	if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
		unit->dwo_id = reader_u64(r);
	if (unit->type == DW_UT_type || unit->type == DW_UT_split_type) {
		reader_u64(r); /* signature */
		dwarf_word(r, unit->offset_size);
	}
	unit->entries = at + (before - reader_left(r));
	return !r->failed && unit->entries <= unit->end;
}

/*
 * Units follow each other. A unit of an unsupported version or address size is left out; a
 * malformed header ends the list.
 */
static void units_index(struct dwarf_file *file)
{
	str info = file->sections[DWARF_INFO];

	for (uint64_t at = 0; at < info.len && file->arena->size <= file->memory_max;) {
		struct reader r = reader_of(str_skip(info, at));
		struct dwarf_unit unit = { .file = file };

		if (!unit_head_read(&r, at, &unit))
			break;
		if (unit.version >= 2 && unit.version <= 5 &&
		    (unit.address_size == 4 || unit.address_size == 8))
			*vec_push(file->arena, &file->units) = unit;
		at = unit.end;
	}
}

static bool sections_open(struct dwarf_file *file, int fd, const struct elf_sections *sections,
			  const char *const *names, struct err *err)
{
	struct stat stat;

	if (!elf_compression_check(fd, sections, err))
		return false;
	if (fstat(fd, &stat))
		return err_errno(err, "stat the debug file");

	void *image = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (image == MAP_FAILED)
		return err_errno(err, "map the debug file");
	file->image = image;
	file->image_len = (size_t)stat.st_size;
	if (sections_load(file, sections, names, err))
		return true;
	dwarf_file_close(file);
	return false;
}

static struct dwarf_file file_empty(uint64_t memory_max, struct arena *arena)
{
	return (struct dwarf_file){ .arena = arena,
				    .abbrevs.arena = arena,
				    .memory_max = memory_max };
}

bool dwarf_file_open(struct dwarf_file *file, int fd, const struct elf_sections *sections,
		     uint64_t memory_max, struct arena *arena, struct err *err)
{
	*file = file_empty(memory_max, arena);
	if (!section_find(sections, "info") && !section_find(sections, "str"))
		return true;
	if (!sections_open(file, fd, sections, section_names, err))
		return false;
	units_index(file);
	return true;
}

bool dwarf_package_open(struct dwarf_file *package, int fd, const struct elf_sections *sections,
			uint64_t memory_max, struct arena *arena, struct err *err)
{
	*package = file_empty(memory_max, arena);
	return sections_open(package, fd, sections, package_names, err);
}

void dwarf_file_index(struct dwarf_file *file, uint64_t memory_max, struct arena *arena)
{
	file->arena = file->abbrevs.arena = arena;
	file->memory_max = memory_max;
	units_index(file);
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (file->image)
		munmap(file->image, file->image_len);
	*file = (struct dwarf_file){ 0 };
}

/* Cached: units of one producer often share their abbreviations. */
static const struct dwarf_abbrevs *unit_abbrevs(struct dwarf_unit *unit)
{
	struct dwarf_file *file = unit->file;
	struct dwarf_sizes sizes = { unit->address_size, unit->offset_size, unit->version };
	const struct {
		uint64_t at;
		struct dwarf_sizes sizes;
		uint32_t pad;
	} key = { unit->abbrevs_at, sizes, 0 };
	str known = { (const char *)&key, sizeof(key) };
	struct dwarf_abbrevs *abbrevs = map_get(&file->abbrevs, known);

	if (abbrevs || file->arena->size > file->memory_max)
		return abbrevs;
	abbrevs = arena_new(file->arena, struct dwarf_abbrevs);
	if (!dwarf_abbrevs_read(str_skip(file->sections[DWARF_ABBREV], unit->abbrevs_at), sizes,
				file->memory_max, file->arena, abbrevs))
		return NULL;
	*map_at(&file->abbrevs, str_copy(file->arena, known)) = abbrevs;
	return abbrevs;
}

static void root_attribute(struct dwarf_unit *unit, uint16_t name, struct dwarf_value value)
{
	switch (name) {
	case DW_AT_str_offsets_base:
		unit->str_offsets_base = value.number;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addr_base = value.number;
		break;
	case DW_AT_rnglists_base:
		unit->rnglists_base = value.number;
		break;
	case DW_AT_GNU_ranges_base:
		unit->ranges_base = value.number;
		break;
	case DW_AT_stmt_list:
		unit->lines_at = value.number;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		unit->is_skeleton = true;
		break;
	case DW_AT_GNU_dwo_id:
		unit->dwo_id = value.number;
		break;
	case DW_AT_language:
		unit->language = value.number <= UINT16_MAX ? (uint16_t)value.number : 0;
		break;
	}
}

/* Two passes: strings and addresses depend on base attributes of the same entry. */
bool dwarf_unit_load(struct dwarf_unit *unit)
{
	if (unit->is_loaded)
		return !unit->is_broken;
	unit->is_loaded = true;
	unit->is_broken = true;
	unit->lines_at = UINT64_MAX;
	unit->abbrevs = unit_abbrevs(unit);

	str bytes = str_skip(unit->file->sections[DWARF_INFO], unit->entries);

	bytes.len = unit->end - unit->entries;

	struct reader r = reader_of(bytes);
	const struct dwarf_abbrev *abbrev =
		unit->abbrevs ? dwarf_abbrevs_find(unit->abbrevs, reader_varint(&r)) : NULL;
	struct reader again = r;

	if (!abbrev)
		return false;
	for (uint32_t i = 0; i < abbrev->attribute_count; i++)
		root_attribute(unit, abbrev->attributes[i].name,
			       dwarf_value_read(&r, unit, &abbrev->attributes[i]));
	for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
		const struct dwarf_attribute *attribute = &abbrev->attributes[i];
		struct dwarf_value value = dwarf_value_read(&again, unit, attribute);

		if (attribute->name == DW_AT_low_pc)
			(void)!dwarf_value_address(unit, value, &unit->low_pc);
		else if (attribute->name == DW_AT_name)
			unit->name = dwarf_value_str(unit, value);
		else if (attribute->name == DW_AT_comp_dir)
			unit->directory = dwarf_value_str(unit, value);
	}
	unit->is_broken = r.failed;
	return !unit->is_broken;
}

struct dwarf_unit *dwarf_unit_at(struct dwarf_file *file, uint64_t at)
{
	struct dwarf_unit *units = file->units.items;
	size_t begun = sorted_before(units, file->units.len, each, each->start <= at);

	return begun && at < units[begun - 1].end ? &units[begun - 1] : NULL;
}
