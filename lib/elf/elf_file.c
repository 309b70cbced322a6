// SPDX-License-Identifier: Apache-2.0
/*
 * Every note segment is read: executables of Debian have the build id in the second one.
 */
#include "elf/elf_file.h"

#include "elf/elf_header_internal.h"

#include <elf.h>

/* The kernel maps whole pages, so a mapped segment includes all of its first and last page. */
enum { PAGE_BYTES = 4096 };

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static void set_build_id(struct elf_file *elf, str id)
{
	if (id.len == 0 || id.len > sizeof(elf->build_id))
		return;
	memcpy(elf->build_id, id.ptr, id.len);
	elf->build_id_len = id.len;
}

/* Notes are padded to 4 bytes, and to 8 in segments that are aligned to 8 (GNU property notes). */
static void read_notes(struct elf_file *elf, str notes, uint64_t align)
{
	struct reader r = reader_of(notes);

	while (!elf->build_id_len && reader_left(&r) >= 12) {
		uint32_t name_len = reader_u32(&r);
		uint32_t desc_len = reader_u32(&r);
		uint32_t type = reader_u32(&r);
		str name = reader_bytes(&r, name_len);
		uint64_t name_pad = align_up(12 + (uint64_t)name_len, align) - 12 - name_len;

		reader_bytes(&r, (size_t)name_pad);

		str desc = reader_bytes(&r, desc_len);

		if (r.failed)
			return;
		if (type == NT_GNU_BUILD_ID && str_eq(name, ((str){ "GNU", 4 })))
			set_build_id(elf, desc);

		/* The last note need not be padded. */
		uint64_t pad = align_up(desc_len, align) - desc_len;

		reader_bytes(&r, pad < reader_left(&r) ? (size_t)pad : reader_left(&r));
	}
}

/* What elf_file_read() works on. */
struct scan {
	struct elf_source source;
	struct elf_header header;
	struct elf_file elf;
	uint64_t note_bytes; /* that may still be read */
	struct arena arena;
};

/* Notes outside of the file are ignored. False: it cannot be read. */
static bool read_notes_at(struct scan *scan, uint64_t offset, uint64_t size, uint64_t align,
			  struct err *err)
{
	str notes;

	if (size > scan->note_bytes)
		size = scan->note_bytes;
	if (scan->elf.build_id_len || !size)
		return true;
	scan->note_bytes -= size;
	if (!elf_source_read(&scan->source, offset, (size_t)size, &scan->arena, &notes, err))
		return err->code == ERR_INVALID;
	read_notes(&scan->elf, notes, align == 8 ? 8 : 4);
	return true;
}

/* A program header. */
struct segment {
	uint32_t type;
	uint64_t alignment;
	struct elf_segment place;
};

static struct segment segment_parse(str bytes, bool is_wide)
{
	struct reader r = reader_of(bytes);
	struct segment segment = { .type = reader_u32(&r) };
	uint32_t flags = is_wide ? reader_u32(&r) : 0;

	segment.place.offset = elf_word(&r, is_wide);
	segment.place.address = elf_word(&r, is_wide);
	elf_word(&r, is_wide); /* physical address */
	segment.place.size = elf_word(&r, is_wide);
	elf_word(&r, is_wide); /* size in memory */
	if (!is_wide)
		flags = reader_u32(&r);
	segment.place.executable = flags & PF_X;
	segment.alignment = elf_word(&r, is_wide);
	return segment;
}

static bool add_segment(struct elf_file *elf, const struct elf_segment *segment, struct err *err)
{
	uint64_t end;

	if (elf->segment_count == ELF_SEGMENTS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d loaded segments", ELF_SEGMENTS_MAX);
	if (__builtin_add_overflow(segment->offset, segment->size, &end) ||
	    __builtin_add_overflow(segment->address, segment->size, &end))
		return err_set(err, ERR_INVALID, "a segment ends past the last address");
	elf->segments[elf->segment_count++] = *segment;
	return true;
}

static bool take_segment(struct scan *scan, const struct segment *segment, struct err *err)
{
	const struct elf_segment *place = &segment->place;

	switch (segment->type) {
	case PT_LOAD:
		return add_segment(&scan->elf, place, err);
	case PT_INTERP:
		scan->elf.has_interpreter = true;
		return true;
	case PT_GNU_EH_FRAME:
		scan->elf.unwind_header = *place;
		return true;
	case PT_NOTE:
		return read_notes_at(scan, place->offset, place->size, segment->alignment, err);
	default:
		return true;
	}
}

static bool read_segments(struct scan *scan, struct err *err)
{
	const struct elf_header *header = &scan->header;
	size_t entry = header->is_wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	str table = { 0 };

	if (header->segment_count && header->segment_size != entry)
		return err_set(err, ERR_INVALID, "program headers of %ju bytes",
			       (uintmax_t)header->segment_size);
	if (header->segment_count &&
	    !elf_source_read(&scan->source, header->segments_offset,
			     (size_t)header->segment_count * entry, &scan->arena, &table, err))
		return false;
	for (; table.len; table = str_skip(table, entry)) {
		struct segment segment = segment_parse((str){ table.ptr, entry }, header->is_wide);

		if (!take_segment(scan, &segment, err))
			return false;
	}
	return true;
}

/* Object files and the modules of some kernels have note sections, but no note segment. */
static bool read_note_sections(struct scan *scan, struct err *err)
{
	const struct elf_header *header = &scan->header;
	size_t entry = (size_t)header->section_size;
	uint32_t name, info;
	str table;

	if (!elf_source_read(&scan->source, header->sections_offset,
			     (size_t)header->section_count * entry, &scan->arena, &table, err))
		return false;
	for (; table.len; table = str_skip(table, entry)) {
		struct elf_section section =
			elf_section_parse((str){ table.ptr, entry }, header->is_wide, &name, &info);

		if (section.type == SHT_NOTE &&
		    !read_notes_at(scan, section.offset, section.size, section.alignment, err))
			return false;
	}
	return true;
}

/*
 * A program is loaded by its program headers, so only an error of reading matters where the section
 * headers are needed just for a build id: an image in memory, as the vdso, may lack them.
 */
static bool scan_read(struct scan *scan, struct err *err)
{
	struct elf_header *header = &scan->header;
	bool is_counted = false;

	if (!elf_header_read(&scan->source, &scan->arena, header, err))
		return false;
	if (header->segment_count == PN_XNUM) {
		if (!elf_header_count(&scan->source, &scan->arena, header, err))
			return false;
		is_counted = true;
	}
	scan->elf = (struct elf_file){ .machine = header->machine,
				       .is_wide = header->is_wide,
				       .entry = header->entry };
	if (!read_segments(scan, err))
		return false;
	if (scan->elf.build_id_len)
		return true;
	return ((is_counted || elf_header_count(&scan->source, &scan->arena, header, err)) &&
		(!header->section_count || read_note_sections(scan, err))) ||
	       err->code != ERR_IO;
}

static bool read_source(struct elf_file *ret_elf, const struct elf_source *source, struct err *err)
{
	struct scan scan = { .source = *source, .note_bytes = ELF_NOTE_BYTES_MAX };
	bool ok = scan_read(&scan, err);

	arena_free(&scan.arena);
	if (ok)
		*ret_elf = scan.elf;
	return ok;
}

bool elf_file_read(struct elf_file *ret_elf, int fd, struct err *err)
{
	return read_source(ret_elf, &(struct elf_source){ .fd = fd }, err);
}

bool elf_file_read_image(struct elf_file *ret_elf, str image, struct err *err)
{
	return read_source(ret_elf, &(struct elf_source){ .is_image = true, .image = image }, err);
}

static bool segment_holds(const struct elf_segment *segment, uint64_t offset, uint64_t slack)
{
	uint64_t first = segment->offset & ~(slack - 1);
	uint64_t last = segment->offset + segment->size;

	return offset >= first && offset < align_up(last, slack);
}

bool elf_file_address(const struct elf_segment *segments, size_t count, uint64_t offset,
		      uint64_t *ret_address)
{
	/* First by the exact range, then by pages; executable segments first. */
	for (uint64_t slack = 1; slack <= PAGE_BYTES; slack *= PAGE_BYTES)
		for (int want = 1; want >= 0; want--)
			for (size_t i = 0; i < count; i++) {
				if (segments[i].executable != (bool)want ||
				    !segment_holds(&segments[i], offset, slack))
					continue;
				*ret_address = segments[i].address + (offset - segments[i].offset);
				return true;
			}
	return false;
}

bool elf_file_offset(const struct elf_file *elf, uint64_t address, uint64_t *ret_offset,
		     uint64_t *ret_left)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (address < segment->address || address - segment->address >= segment->size)
			continue;
		*ret_offset = segment->offset + (address - segment->address);
		*ret_left = segment->size - (address - segment->address);
		return true;
	}
	return false;
}
