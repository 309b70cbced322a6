// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_header_internal.h"

#include <elf.h>
#include <errno.h>

bool elf_source_read(const struct elf_source *source, uint64_t offset, size_t len,
		     struct arena *arena, str *ret_bytes, struct err *err)
{
	str image = str_skip(source->image, offset);
	char *to;

	if (offset > INT64_MAX - len || (source->is_image && image.len < len))
		return err_set(err, ERR_INVALID, "the ELF file ends within its headers");
	if (source->is_image) {
		*ret_bytes = (str){ image.ptr, len };
		return true;
	}
	to = arena_array(arena, char, len);
	for (size_t have = 0; have < len;) {
		ssize_t n = pread(source->fd, to + have, len - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "read the ELF file");
		if (n == 0)
			return err_set(err, ERR_INVALID, "the ELF file ends within its headers");
		have += (size_t)n;
	}
	*ret_bytes = (str){ to, len };
	return true;
}

/* The bytes are those of a whole header. */
static struct elf_header header_parse(str bytes)
{
	struct reader r = reader_of(str_skip(bytes, EI_NIDENT));
	struct elf_header header = { .is_wide = bytes.ptr[EI_CLASS] == ELFCLASS64 };

	header.type = reader_u16(&r);
	header.machine = reader_u16(&r);
	reader_u32(&r); /* version */
	header.entry = elf_word(&r, header.is_wide);
	header.segments_offset = elf_word(&r, header.is_wide);
	header.sections_offset = elf_word(&r, header.is_wide);
	reader_bytes(&r, 4 + 2); /* flags, size of this header */
	header.segment_size = reader_u16(&r);
	header.segment_count = reader_u16(&r);
	header.section_size = reader_u16(&r);
	header.section_count = reader_u16(&r);
	header.names_index = reader_u16(&r);
	return header;
}

bool elf_header_read(const struct elf_source *source, struct arena *arena,
		     struct elf_header *ret_header, struct err *err)
{
	str bytes;

	if (!elf_source_read(source, 0, sizeof(Elf32_Ehdr), arena, &bytes, err))
		return false;
	if (memcmp(bytes.ptr, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_INVALID, "not an ELF file");
	if (bytes.ptr[EI_CLASS] != ELFCLASS64 && bytes.ptr[EI_CLASS] != ELFCLASS32)
		return err_set(err, ERR_INVALID, "an ELF file of an unknown class");
	if (bytes.ptr[EI_DATA] != ELFDATA2LSB)
		return err_set(err, ERR_INVALID, "big-endian ELF files are not supported");
	if (bytes.ptr[EI_CLASS] == ELFCLASS64 &&
	    !elf_source_read(source, 0, sizeof(Elf64_Ehdr), arena, &bytes, err))
		return false;
	*ret_header = header_parse(bytes);
	return true;
}

struct elf_section elf_section_parse(str bytes, bool is_wide, uint32_t *ret_name,
				     uint32_t *ret_info)
{
	struct reader r = reader_of(bytes);
	struct elf_section section = { 0 };

	*ret_name = reader_u32(&r);
	section.type = reader_u32(&r);
	section.flags = elf_word(&r, is_wide);
	section.address = elf_word(&r, is_wide);
	section.offset = elf_word(&r, is_wide);
	section.size = elf_word(&r, is_wide);
	section.link = reader_u32(&r);
	*ret_info = reader_u32(&r);
	section.alignment = elf_word(&r, is_wide);
	return section;
}

bool elf_header_count(const struct elf_source *source, struct arena *arena,
		      struct elf_header *header, struct err *err)
{
	size_t least = header->is_wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint32_t name, info;
	struct elf_section first;
	str bytes;

	if (header->sections_offset == 0) {
		header->section_count = 0;
		return true;
	}
	if (header->section_size != least)
		return err_set(err, ERR_INVALID, "section headers of %ju bytes",
			       (uintmax_t)header->section_size);
	if (!elf_source_read(source, header->sections_offset, least, arena, &bytes, err))
		return false;
	first = elf_section_parse(bytes, header->is_wide, &name, &info);
	if (header->section_count == 0)
		header->section_count = first.size;
	if (header->names_index == SHN_XINDEX)
		header->names_index = first.link;
	if (header->segment_count == PN_XNUM)
		header->segment_count = info;
	if (header->section_count > ELF_HEADERS_MAX || header->segment_count > ELF_HEADERS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d headers", ELF_HEADERS_MAX);
	return true;
}
