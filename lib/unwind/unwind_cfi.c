// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"
#include "dwarf/dwarf_inflate.h"
#include "dwarf/dwarf_value.h"
#include "elf/elf_compression.h"
#include "elf/limits.h"
#include "unwind/unwind_cfi_internal.h"

#include <dwarf.h>

/* An entry of the section: a CIE or an FDE. */
struct cfi_entry {
	uint64_t at, end; /* in the section */
	str body;         /* what follows its id */
	bool is_cie;
	uint64_t cie_at; /* the FDE's CIE */
};

/* Reads the entry at this offset. False: the section ends. */
static bool entry_read(const struct unwind_cfi *cfi, uint64_t at, struct cfi_entry *ret_entry)
{
	const struct dwarf_frame_section *section = &cfi->section;
	struct reader r = reader_of(str_skip(section->bytes, at));
	uint64_t len = reader_u32(&r), id, none = section->is_eh ? 0 : UINT32_MAX;
	bool is_long = len == UINT32_MAX;

	if (is_long)
		len = reader_u64(&r);
	if (is_long && !section->is_eh)
		none = UINT64_MAX;
	if (r.failed || len > reader_left(&r))
		return false;

	str body = { r.rest.ptr, (size_t)len };
	uint64_t id_at = (uint64_t)(body.ptr - section->bytes.ptr);

	*ret_entry = (struct cfi_entry){ .at = at, .end = id_at + len };
	if (len == 0) /* a terminator, which linkers also write in the middle */
		return !cfi->ends_with_zero;
	r = reader_of(body);
	id = is_long && !section->is_eh ? reader_u64(&r) : reader_u32(&r);
	if (r.failed)
		return true;
	ret_entry->body = r.rest;
	ret_entry->is_cie = id == none;
	ret_entry->cie_at = section->is_eh ? id_at - id : id;
	return true;
}

/* The letters of the augmentation define its data. */
static bool augmentation_read(struct reader *r, str letters,
			      const struct dwarf_frame_section *section, struct unwind_cie *cie)
{
	uint64_t address;
	struct reader data;

	if (letters.len == 0)
		return true;
	if (letters.ptr[0] != 'z')
		return false;
	cie->has_augmentation = true;
	data = reader_of(reader_bytes(r, reader_varint(r)));
	for (size_t i = 1; i < letters.len; i++) {
		switch (letters.ptr[i]) {
		case 'R':
			cie->encoding = reader_u8(&data);
			break;
		case 'P': {
			/* DW_EH_PE_indirect does not change the length. */
			uint8_t encoding = reader_u8(&data) & 0x0f;

			if (!dwarf_pointer_read(&data, section, encoding, &address))
				return false;
			break;
		}
		case 'L':
			reader_u8(&data);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* arm64: the key that signs return addresses; memory tagging */
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !data.failed && !r->failed;
}

/* Parses a CIE. False: unsupported. It stays in the list, and its FDEs are ignored. */
static bool cie_read(const struct dwarf_frame_section *section, const struct cfi_entry *entry,
		     struct unwind_cie *cie, str *ret_instructions)
{
	struct reader r = reader_of(entry->body);
	uint8_t version = reader_u8(&r);
	str letters = dwarf_text(&r);

	if (version != 1 && version != 3 && version != 4)
		return false;
	if (version == 4 && (reader_u8(&r) != section->word_bytes || reader_u8(&r) != 0))
		return false; /* addresses of another size, or segments */
	cie->code_align = reader_varint(&r);
	cie->data_align = dwarf_sleb(&r);
	cie->return_register = version == 1 ? reader_u8(&r) : reader_varint(&r);
	if (!augmentation_read(&r, letters, section, cie))
		return false;
	*ret_instructions = r.rest;
	return !r.failed;
}

static void cie_add(struct unwind_cfi *cfi, const struct cfi_entry *entry, struct arena *arena)
{
	struct unwind_cie *cie = vec_push(arena, &cfi->cies);
	struct unwind_program program = { .machine = cfi->machine,
					  .section = &cfi->section,
					  .cie = cie,
					  .remembered = cfi->remembered };

	*cie = (struct unwind_cie){ .at = entry->at, .encoding = DW_EH_PE_absptr };
	cie->is_readable = cie_read(&cfi->section, entry, cie, &program.instructions);
	cie->is_known = cie->is_readable && unwind_program_cie(&program);
	cfi->has_signal |= cie->is_signal;
}

static const struct unwind_cie *cie_at(const struct unwind_cfi *cfi, uint64_t at)
{
	const struct unwind_cie *cies = cfi->cies.items;
	size_t before = sorted_before(cies, cfi->cies.len, each, each->at < at);

	return before < cfi->cies.len && cies[before].at == at ? &cies[before] : NULL;
}

static void function_add(const struct unwind_cfi *cfi, const struct cfi_entry *entry,
			 enum unwind_range_source source, struct unwind_ranges *ranges)
{
	const struct dwarf_frame_section *section = &cfi->section;
	const struct unwind_cie *cie = cie_at(cfi, entry->cie_at);
	struct reader r = reader_of(entry->body);
	uint64_t start, len;

	if (!cie || !cie->is_readable || !dwarf_pointer_read(&r, section, cie->encoding, &start) ||
	    !dwarf_pointer_read(&r, section, cie->encoding & 0x0f, &len))
		return;
	if (cie->has_augmentation)
		reader_bytes(&r, reader_varint(&r));
	if (r.failed)
		return;
	unwind_ranges_add(ranges, start, len,
			  (struct unwind_range){
				  .at = (uint32_t)(r.rest.ptr - section->bytes.ptr),
				  .len = (uint32_t)reader_left(&r),
				  .index = (uint32_t)(cie - cfi->cies.items),
				  .source = source,
			  });
}

static void rows_add(void *self, const struct unwind_range *range, struct unwind_rows *rows)
{
	struct unwind_cfi *cfi = self;
	struct unwind_program program = {
		.machine = cfi->machine,
		.section = &cfi->section,
		.cie = &cfi->cies.items[range->index],
		.remembered = cfi->remembered,
		.instructions = { cfi->section.bytes.ptr + range->at, range->len },
		.start = range->start,
		.end = range->end,
	};

	unwind_program_run(&program, rows);
}

/* The register takes the place of the frame pointer, whose place rows have. */
bool unwind_cfi_saved(const struct unwind_cfi *cfi, const struct unwind_range *range,
		      uint64_t register_number, struct arena *scratch, int16_t *ret_offset)
{
	enum { PROLOGUE_MAX = 64 }; /* bytes before the register is saved */
	struct unwind_machine machine = *cfi->machine;
	struct unwind_cie cie = cfi->cies.items[range->index];
	struct unwind_state *remembered =
		arena_array(scratch, struct unwind_state, UNWIND_REMEMBERED_MAX);
	struct unwind_program program = {
		.machine = &machine,
		.section = &cfi->section,
		.cie = &cie,
		.remembered = remembered,
		.instructions = { cfi->section.bytes.ptr + range->at, range->len },
		.start = range->start,
		.end = range->end,
	};
	struct unwind_rows rows;
	bool is_saved = false;

	if (range->len > UNWIND_CALL_FRAME_MAX || register_number == machine.frame_pointer)
		return false;
	machine.frame_pointer = register_number;
	cie.initial.frame_pointer = (struct unwind_place){ .kind = UNWIND_PLACE_SAME };
	unwind_rows_init(&rows, scratch, range->start);
	unwind_program_run(&program, &rows);
	for (size_t i = 0; i < rows.rows.len; i++) {
		const struct unwind_rule *rule = &rows.rules.items[rows.rows.items[i].rule];

		if (rule->frame_pointer != UNWIND_SAVED_AT_CFA)
			continue;
		if (is_saved ? rule->frame_pointer_offset != *ret_offset
			     : rows.rows.items[i].address - range->start > PROLOGUE_MAX)
			return false;
		is_saved = true;
		*ret_offset = rule->frame_pointer_offset;
	}
	return is_saved;
}

/* CIEs first: in .debug_frame a CIE may be after its FDEs. */
bool unwind_cfi_list(struct unwind_cfi *cfi, enum unwind_range_source source,
		     struct unwind_ranges *ranges, struct err *err)
{
	struct cfi_entry entry;

	for (uint64_t at = 0; entry_read(cfi, at, &entry); at = entry.end) {
		if (entry.body.len && entry.is_cie)
			cie_add(cfi, &entry, ranges->arena);
		if (!unwind_ranges_fit(ranges, err))
			return false;
	}
	for (uint64_t at = 0; entry_read(cfi, at, &entry); at = entry.end) {
		if (entry.body.len && !entry.is_cie)
			function_add(cfi, &entry, source, ranges);
		if (!unwind_ranges_fit(ranges, err))
			return false;
	}
	ranges->row_sources[source] = (struct unwind_row_source){ rows_add, cfi };
	return true;
}

static bool section_list(struct unwind_cfi_file *file, struct dwarf_frame_section section,
			 enum unwind_range_source source, bool ends_with_zero,
			 struct unwind_ranges *ranges, struct err *err)
{
	struct unwind_cfi *cfi = arena_new(ranges->arena, struct unwind_cfi);

	section.word_bytes = 8;
	*cfi = (struct unwind_cfi){ .machine = file->machine,
				    .section = section,
				    .ends_with_zero = ends_with_zero };
	if (!unwind_cfi_list(cfi, source, ranges, err))
		return false;
	file->has_signal |= cfi->has_signal;
	return true;
}

/* Without section headers, .eh_frame_hdr (PT_GNU_EH_FRAME) has the address of .eh_frame. */
static bool section_by_header(const struct unwind_cfi_file *file, struct arena *arena,
			      struct elf_section *ret_section, struct err *err)
{
	enum { HEADER_BYTES = 16, VERSION = 1 };
	const struct elf_segment *header = &file->elf->unwind_header;
	struct elf_section head = { .type = 1, .offset = header->offset, .size = HEADER_BYTES };
	struct dwarf_frame_section place = { .address = header->address, .word_bytes = 8 };
	struct elf_section found = { .type = 1 };

	*ret_section = (struct elf_section){ 0 };
	if (header->size < HEADER_BYTES)
		return true;
	if (!elf_section_read(file->fd, &head, HEADER_BYTES, arena, &place.bytes, err))
		return false;

	struct reader r = reader_of(place.bytes);
	uint8_t version = reader_u8(&r), encoding = reader_u8(&r);

	reader_u16(&r); /* encodings of the index */
	if (version != VERSION || !dwarf_pointer_read(&r, &place, encoding, &found.address) ||
	    !elf_file_offset(file->elf, found.address, &found.offset, &found.size))
		return true;
	if (found.size > UNWIND_SECTION_MAX)
		found.size = UNWIND_SECTION_MAX;
	*ret_section = found;
	return true;
}

static bool eh_frame_list(struct unwind_cfi_file *file, struct unwind_ranges *ranges,
			  struct err *err)
{
	const struct elf_section *named = elf_sections_find(file->sections, STR(".eh_frame"));
	struct elf_section section = { 0 };
	struct dwarf_frame_section found = { .is_eh = true };

	if (elf_section_has_bytes(named))
		section = *named;
	else if (!section_by_header(file, ranges->arena, &section, err))
		return false;
	found.address = section.address;
	if (!elf_section_read(file->fd, &section, UNWIND_SECTION_MAX, ranges->arena, &found.bytes,
			      err))
		return false;
	return section_list(file, found, UNWIND_SOURCE_EH_FRAME, !elf_section_has_bytes(named),
			    ranges, err);
}

/* The section may be compressed, by its flag or by its old name .zdebug_frame. */
static bool debug_frame_list(struct unwind_cfi_file *file, struct unwind_ranges *ranges,
			     struct err *err)
{
	const struct elf_section *section = elf_sections_find(file->sections, STR(".debug_frame"));
	struct dwarf_frame_section found = { 0 };
	str bytes;

	if (!elf_section_has_bytes(section))
		section = elf_sections_find(file->sections, STR(".zdebug_frame"));
	if (!elf_section_has_bytes(section))
		return true;
	return elf_compression_check(file->fd, file->sections, err) &&
	       elf_section_read(file->fd, section, UNWIND_SECTION_MAX, ranges->arena, &bytes,
				err) &&
	       dwarf_inflate(section, file->sections->is_wide, bytes, UNWIND_SECTION_MAX,
			     ranges->arena, &found.bytes, err) &&
	       section_list(file, found, UNWIND_SOURCE_DEBUG_FRAME, false, ranges, err);
}

bool unwind_cfi_file_list(struct unwind_cfi_file *file, struct unwind_ranges *ranges,
			  struct err *err)
{
	return eh_frame_list(file, ranges, err) && debug_frame_list(file, ranges, err);
}
