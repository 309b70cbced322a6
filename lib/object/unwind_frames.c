// SPDX-License-Identifier: Apache-2.0
#include "unwind_frames.h"

#include "dwarf_inflate.h"

static bool frames_list(struct unwind_frames *frames, struct unwind_section section,
			enum unwind_source source, bool ends_with_zero,
			struct unwind_stretches *stretches, struct err *err)
{
	struct unwind_cfi *cfi = arena_new(stretches->arena, struct unwind_cfi);

	section.word_bytes = 8;
	*cfi = (struct unwind_cfi){ .machine = frames->machine,
				    .section = section,
				    .ends_with_zero = ends_with_zero };
	if (!unwind_cfi_list(cfi, source, stretches, err))
		return false;
	frames->has_signal |= cfi->has_signal;
	return true;
}

/* A file without section headers: where .eh_frame begins stands in the header of its index. */
static bool section_by_header(const struct unwind_frames *frames, struct arena *arena,
			      struct elf_section *ret_section, struct err *err)
{
	enum { HEADER_BYTES = 16, VERSION = 1 };
	const struct elf_segment *header = &frames->elf->unwind_header;
	struct elf_section head = { .type = 1, .offset = header->offset, .size = HEADER_BYTES };
	struct unwind_section place = { .address = header->address, .word_bytes = 8 };
	struct elf_section found = { .type = 1 };

	*ret_section = (struct elf_section){ 0 };
	if (header->size < HEADER_BYTES)
		return true;
	if (!elf_section_read(frames->fd, &head, HEADER_BYTES, arena, &place.bytes, err))
		return false;

	struct reader r = reader_of(place.bytes);
	uint8_t version = reader_u8(&r), encoding = reader_u8(&r);

	reader_u16(&r); /* of the index */
	if (version != VERSION || !unwind_pointer_read(&r, &place, encoding, &found.address) ||
	    !elf_file_offset(frames->elf, found.address, &found.offset, &found.size))
		return true;
	if (found.size > UNWIND_SECTION_MAX)
		found.size = UNWIND_SECTION_MAX;
	*ret_section = found;
	return true;
}

static bool eh_frame_list(struct unwind_frames *frames, struct unwind_stretches *stretches,
			  struct err *err)
{
	const struct elf_section *named = elf_sections_find(frames->sections, STR(".eh_frame"));
	struct elf_section section = { 0 };
	struct unwind_section found = { .is_eh = true };

	if (elf_section_has_bytes(named))
		section = *named;
	else if (!section_by_header(frames, stretches->arena, &section, err))
		return false;
	found.address = section.address;
	if (!elf_section_read(frames->fd, &section, UNWIND_SECTION_MAX, stretches->arena,
			      &found.bytes, err))
		return false;
	return frames_list(frames, found, UNWIND_SOURCE_EH_FRAME, !elf_section_has_bytes(named),
			   stretches, err);
}

/* Compressed, by its flag or by its old name, or not. */
static bool debug_frame_list(struct unwind_frames *frames, struct unwind_stretches *stretches,
			     struct err *err)
{
	const struct elf_section *section =
		elf_sections_find(frames->sections, STR(".debug_frame"));
	struct unwind_section found = { 0 };
	str bytes;

	if (!elf_section_has_bytes(section))
		section = elf_sections_find(frames->sections, STR(".zdebug_frame"));
	if (!elf_section_has_bytes(section))
		return true;
	return elf_section_read(frames->fd, section, UNWIND_SECTION_MAX, stretches->arena, &bytes,
				err) &&
	       dwarf_inflate(section, frames->sections->is_wide, bytes, UNWIND_SECTION_MAX,
			     stretches->arena, &found.bytes, err) &&
	       frames_list(frames, found, UNWIND_SOURCE_DEBUG_FRAME, false, stretches, err);
}

bool unwind_frames_list(struct unwind_frames *frames, struct unwind_stretches *stretches,
			struct err *err)
{
	return eh_frame_list(frames, stretches, err) && debug_frame_list(frames, stretches, err);
}
