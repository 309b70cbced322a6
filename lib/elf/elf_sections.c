// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_sections.h"

#include "base/reader.h"

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>

/* The fields of the ELF header about the tables. */
struct elf_header {
	uint16_t type;
	bool is_wide;
	uint64_t table_offset;
	uint64_t entry_size, count, names_index;
	bool many_segments; /* their number is in the first section header */
};

static bool read_at(int fd, uint64_t offset, size_t len, struct arena *arena, str *ret_bytes,
		    struct err *err)
{
	char *bytes = arena_array(arena, char, len);

	for (size_t have = 0; have < len;) {
		ssize_t n = pread(fd, bytes + have, len - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "read the ELF file");
		if (n == 0)
			return err_set(err, ERR_INVALID, "the ELF file ends within its headers");
		have += (size_t)n;
	}
	*ret_bytes = (str){ bytes, len };
	return true;
}

/* An address or a size: 64 or 32 bits, by the class of the file. */
static uint64_t read_word(struct reader *r, bool is_wide)
{
	return is_wide ? reader_u64(r) : reader_u32(r);
}

static bool header_parse(str bytes, struct elf_header *ret_header, struct err *err)
{
	struct reader r = reader_of(bytes);
	str ident = reader_bytes(&r, EI_NIDENT);
	struct elf_header header = { 0 };

	if (r.failed || memcmp(ident.ptr, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_INVALID, "not an ELF file");
	if (ident.ptr[EI_CLASS] != ELFCLASS64 && ident.ptr[EI_CLASS] != ELFCLASS32)
		return err_set(err, ERR_INVALID, "an ELF file of an unknown class");
	if (ident.ptr[EI_DATA] != ELFDATA2LSB)
		return err_set(err, ERR_INVALID, "big-endian ELF files are not supported");
	header.is_wide = ident.ptr[EI_CLASS] == ELFCLASS64;
	header.type = reader_u16(&r);
	reader_bytes(&r, 2 + 4);       /* machine, version */
	read_word(&r, header.is_wide); /* entry */
	read_word(&r, header.is_wide); /* offset of the program headers */
	header.table_offset = read_word(&r, header.is_wide);
	reader_bytes(&r, 4 + 2 + 2); /* flags, sizes of this header and of a program header */
	header.many_segments = reader_u16(&r) == PN_XNUM;
	header.entry_size = reader_u16(&r);
	header.count = reader_u16(&r);
	header.names_index = reader_u16(&r);
	if (r.failed)
		return err_set(err, ERR_INVALID, "the ELF file ends within its header");
	*ret_header = header;
	return true;
}

/* *ret_name: offset of the name in the string table. */
static struct elf_section section_parse(str bytes, bool is_wide, uint32_t *ret_name,
					uint32_t *ret_info)
{
	struct reader r = reader_of(bytes);
	struct elf_section section = { 0 };

	*ret_name = reader_u32(&r);
	section.type = reader_u32(&r);
	section.flags = read_word(&r, is_wide);
	section.address = read_word(&r, is_wide);
	section.offset = read_word(&r, is_wide);
	section.size = read_word(&r, is_wide);
	section.link = reader_u32(&r);
	*ret_info = reader_u32(&r);
	section.alignment = read_word(&r, is_wide);
	return section;
}

/* Numbers that do not fit into the ELF header are in the first, unused, section header. */
static bool count_sections(int fd, struct elf_header *header, struct arena *arena, struct err *err)
{
	size_t least = header->is_wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint32_t name, info;
	struct elf_section first;
	str bytes;

	if (header->table_offset == 0) {
		header->count = 0;
		return true;
	}
	if (header->entry_size != least)
		return err_set(err, ERR_INVALID, "section headers of %ju bytes",
			       (uintmax_t)header->entry_size);
	if (header->table_offset > INT64_MAX - (1 << 30))
		return err_set(err, ERR_INVALID, "the section headers are past the file's end");
	if (!read_at(fd, header->table_offset, least, arena, &bytes, err))
		return false;
	first = section_parse(bytes, header->is_wide, &name, &info);
	if (header->count == 0)
		header->count = first.size;
	if (header->names_index == SHN_XINDEX)
		header->names_index = first.link;
	if (header->count > ELF_HEADERS_MAX || (header->many_segments && info > ELF_HEADERS_MAX))
		return err_set(err, ERR_LIMIT, "more than %d headers", ELF_HEADERS_MAX);
	return true;
}

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

static bool name_sections(int fd, const struct elf_header *header, struct elf_sections *sections,
			  const uint32_t *offsets, struct arena *arena, struct err *err)
{
	str names = { 0 };

	if (header->names_index > 0 && header->names_index < sections->len) {
		const struct elf_section *table = &sections->items[header->names_index];

		if (table->size > ELF_NAMES_MAX)
			return err_set(err, ERR_LIMIT, "section names of %ju bytes, limit %d",
				       (uintmax_t)table->size, ELF_NAMES_MAX);
		if (elf_section_has_bytes(table) &&
		    !read_at(fd, table->offset, (size_t)table->size, arena, &names, err))
			return false;
	}
	for (size_t i = 0; i < sections->len; i++)
		sections->items[i].name = name_at(names, offsets[i]);
	return true;
}

bool elf_sections_read(int fd, struct arena *arena, struct elf_sections *ret_sections,
		       struct err *err)
{
	struct elf_header header = { 0 };
	struct stat file;
	str bytes;

	if (fstat(fd, &file))
		return err_errno(err, "stat the ELF file");

	size_t head = (uint64_t)file.st_size < sizeof(Elf64_Ehdr) ? (size_t)file.st_size
								  : sizeof(Elf64_Ehdr);

	if (!read_at(fd, 0, head, arena, &bytes, err) || !header_parse(bytes, &header, err) ||
	    !count_sections(fd, &header, arena, err))
		return false;

	struct elf_sections sections = { .len = (size_t)header.count,
					 .type = header.type,
					 .is_wide = header.is_wide,
					 .table_offset = header.table_offset,
					 .names_index = header.names_index };
	size_t entry = (size_t)header.entry_size;
	uint32_t *names = arena_array(arena, uint32_t, sections.len), info;

	sections.items = arena_array(arena, struct elf_section, sections.len);
	if (sections.len &&
	    !read_at(fd, header.table_offset, sections.len * entry, arena, &bytes, err))
		return false;
	for (size_t i = 0; i < sections.len; i++) {
		str one = { bytes.ptr + i * entry, entry };

		sections.items[i] = section_parse(one, header.is_wide, &names[i], &info);
		if (!section_is_inside(&sections.items[i], (uint64_t)file.st_size))
			return err_set(err, ERR_INVALID,
				       "section %zu ends past the file's end: "
				       "the file is truncated",
				       i);
	}
	if (!name_sections(fd, &header, &sections, names, arena, err))
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
	return read_at(fd, section->offset, (size_t)section->size, arena, ret_bytes, err);
}
