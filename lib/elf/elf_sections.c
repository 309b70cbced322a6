// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_sections.h"

#include "elf/elf_header_internal.h"

#include <elf.h>
#include <sys/stat.h>

static bool section_is_inside(const struct elf_section *section, uint64_t file_len)
{
	uint64_t end;

	if (section->type == SHT_NOBITS || section->type == SHT_NULL)
		return true;
	return !__builtin_add_overflow(section->offset, section->size, &end) && end <= file_len;
}

static str name_at(str names, uint32_t offset)
{
	str rest = str_skip(names, offset);
	const char *end = rest.len ? memchr(rest.ptr, 0, rest.len) : NULL;

	return (str){ rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len };
}

static bool name_sections(const struct elf_source *source, struct elf_sections *sections,
			  const uint32_t *offsets, struct arena *arena, struct err *err)
{
	str names = { 0 };

	if (sections->names_index > 0 && sections->names_index < sections->len) {
		const struct elf_section *table = &sections->items[sections->names_index];

		if (table->size > ELF_NAMES_MAX)
			return err_set(err, ERR_LIMIT, "section names of %ju bytes, limit %d",
				       (uintmax_t)table->size, ELF_NAMES_MAX);
		if (elf_section_has_bytes(table) &&
		    !elf_source_read(source, table->offset, (size_t)table->size, arena, &names,
				     err))
			return false;
	}
	for (size_t i = 0; i < sections->len; i++)
		sections->items[i].name = name_at(names, offsets[i]);
	return true;
}

bool elf_sections_read(int fd, struct arena *arena, struct elf_sections *ret_sections,
		       struct err *err)
{
	struct elf_source source = { .fd = fd };
	struct elf_header header;
	struct stat file;
	str table = { 0 };

	if (fstat(fd, &file))
		return err_errno(err, "stat the ELF file");
	if (!elf_header_read(&source, arena, &header, err) ||
	    !elf_header_count(&source, arena, &header, err))
		return false;

	struct elf_sections sections = { .len = (size_t)header.section_count,
					 .type = header.type,
					 .machine = header.machine,
					 .is_wide = header.is_wide,
					 .table_offset = header.sections_offset,
					 .names_index = header.names_index };
	size_t entry = (size_t)header.section_size;
	uint32_t *names, info;

	if (sections.len && !elf_source_read(&source, header.sections_offset, sections.len * entry,
					     arena, &table, err))
		return false;
	names = arena_array(arena, uint32_t, sections.len);
	sections.items = arena_array(arena, struct elf_section, sections.len);
	for (size_t i = 0; i < sections.len; i++) {
		str one = { table.ptr + i * entry, entry };

		sections.items[i] = elf_section_parse(one, header.is_wide, &names[i], &info);
		if (!section_is_inside(&sections.items[i], (uint64_t)file.st_size))
			return err_set(err, ERR_INVALID,
				       "section %zu ends past the file's end: "
				       "the file is truncated",
				       i);
	}
	if (!name_sections(&source, &sections, names, arena, err))
		return false;
	*ret_sections = sections;
	return true;
}

const struct elf_section *elf_sections_find(const struct elf_sections *sections, str name)
{
	for (size_t i = 0; i < sections->len; i++)
		if (str_eq(sections->items[i].name, name))
			return &sections->items[i];
	return NULL;
}

bool elf_section_has_bytes(const struct elf_section *section)
{
	return section && section->type != SHT_NOBITS && section->type != SHT_NULL &&
	       section->size > 0;
}

bool elf_section_read(int fd, const struct elf_section *section, uint64_t max, struct arena *arena,
		      str *ret_bytes, struct err *err)
{
	*ret_bytes = (str){ 0 };
	if (!elf_section_has_bytes(section))
		return true;
	if (section->size > max)
		return err_set(err, ERR_LIMIT, "a section of %ju bytes, limit %ju",
			       (uintmax_t)section->size, (uintmax_t)max);
	return elf_source_read(&(struct elf_source){ .fd = fd }, section->offset,
			       (size_t)section->size, arena, ret_bytes, err);
}
