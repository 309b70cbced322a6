// SPDX-License-Identifier: Apache-2.0
#include "elf/debug_extract.h"

#include "elf/debug_rank.h"
#include "elf/elf_symbols.h"
#include "elf/go_sections.h"

#include <elf.h>
#include <errno.h>

/* Headers are patched in place, in the byte order of the file. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ELF files here are little endian");

enum { ALIGNMENT_MAX = 64, HEADERS_ALIGNMENT = 8 };

/* Offsets of fields, for 32-bit and 64-bit files. */
struct layout {
	size_t word, file, segment, section; /* lengths */
	size_t segments_offset, sections_offset, segment_size, segment_count;
	size_t p_offset, p_address, p_size, p_alignment;
	size_t s_type, s_offset;
};

#define LAYOUT(bits)                                                                      \
	{                                                                                 \
		.word = (bits) / 8, .file = sizeof(Elf##bits##_Ehdr),                     \
		.segment = sizeof(Elf##bits##_Phdr), .section = sizeof(Elf##bits##_Shdr), \
		.segments_offset = offsetof(Elf##bits##_Ehdr, e_phoff),                   \
		.sections_offset = offsetof(Elf##bits##_Ehdr, e_shoff),                   \
		.segment_size = offsetof(Elf##bits##_Ehdr, e_phentsize),                  \
		.segment_count = offsetof(Elf##bits##_Ehdr, e_phnum),                     \
		.p_offset = offsetof(Elf##bits##_Phdr, p_offset),                         \
		.p_address = offsetof(Elf##bits##_Phdr, p_vaddr),                         \
		.p_size = offsetof(Elf##bits##_Phdr, p_filesz),                           \
		.p_alignment = offsetof(Elf##bits##_Phdr, p_align),                       \
		.s_type = offsetof(Elf##bits##_Shdr, sh_type),                            \
		.s_offset = offsetof(Elf##bits##_Shdr, sh_offset),                        \
	}

static const struct layout layouts[] = { LAYOUT(32), LAYOUT(64) };

static const char *const kept_names[] = {
	".symtab",           ".dynsym",       ".strtab",
	".dynstr",           ".gopclntab",    ".data.rel.ro.gopclntab",
	".gosymtab",         ".go.buildinfo", ".rela.plt",
	".rel.plt",          ".comment",      ".gnu_debugdata",
	".gnu_debugaltlink",
};
static const char *const kept_prefixes[] = { ".debug_", ".zdebug_", ".plt" };

struct plan {
	struct arena *arena;
	const struct elf_sections *sections;
	const struct layout *layout;
	int fd;
	char *file, *segment_table, *section_table;
	size_t segment_count;
	bool needs_go;    /* names come from Go's table */
	bool needs_code;  /* it has functions without a size, whose end the code says */
	uint64_t *places; /* offset of each section in the virtual file; 0: left out */
	struct debug_extract extract;
	size_t piece_cap;
};

static uint64_t word_get(const struct plan *plan, const char *from)
{
	uint64_t value = 0;

	memcpy(&value, from, plan->layout->word);
	return value;
}

static void word_set(const struct plan *plan, char *to, uint64_t value)
{
	memcpy(to, &value, plan->layout->word);
}

static bool read_whole(int fd, uint64_t offset, char *to, size_t len, struct err *err)
{
	for (size_t have = 0; have < len;) {
		ssize_t n = pread(fd, to + have, len - have, (off_t)(offset + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "read the ELF file");
		if (n == 0)
			return err_set(err, ERR_IO, "the ELF file became shorter");
		have += (size_t)n;
	}
	return true;
}

static bool is_kept(const struct plan *plan, size_t index)
{
	const struct elf_sections *sections = plan->sections;
	const struct elf_section *section = &sections->items[index];

	if (!elf_section_has_bytes(section))
		return false;
	if (index == sections->names_index || section->type == SHT_NOTE ||
	    section->type == SHT_SYMTAB_SHNDX)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(kept_names); i++)
		if (str_eq(section->name, str_from(kept_names[i])))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(kept_prefixes); i++)
		if (str_starts_with(section->name, str_from(kept_prefixes[i])))
			return true;
	if (plan->needs_code && (section->flags & SHF_EXECINSTR))
		return true;
	return plan->needs_go && go_sections_need(sections, section);
}

static void add_piece(struct plan *plan, uint64_t size, uint64_t offset, const char *memory)
{
	struct debug_extract *extract = &plan->extract;

	if (!size)
		return;
	extract->pieces[extract->piece_count++] = (struct debug_piece){
		.at = extract->size, .size = size, .offset = offset, .memory = memory
	};
	extract->size += size;
}

static void align(struct plan *plan, uint64_t alignment)
{
	static const char zeros[ALIGNMENT_MAX];

	/* The alignment is untrusted: it may not be a power of two. */
	if (alignment > 1 && alignment <= ALIGNMENT_MAX && plan->extract.size % alignment)
		add_piece(plan, alignment - plan->extract.size % alignment, 0, zeros);
}

static bool read_headers(struct plan *plan, struct err *err)
{
	const struct layout *layout = plan->layout;
	uint16_t count, size;

	plan->file = arena_array(plan->arena, char, layout->file);
	if (!read_whole(plan->fd, 0, plan->file, layout->file, err))
		return false;
	memcpy(&count, plan->file + layout->segment_count, sizeof(count));
	memcpy(&size, plan->file + layout->segment_size, sizeof(size));
	if (count > DEBUG_SEGMENTS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d program headers", DEBUG_SEGMENTS_MAX);
	if (count && size != layout->segment)
		return err_set(err, ERR_INVALID, "program headers of %u bytes", size);

	uint64_t offset = word_get(plan, plan->file + layout->segments_offset);

	if (offset > INT64_MAX / 2)
		return err_set(err, ERR_INVALID, "the program headers are past the file's end");
	plan->segment_count = count;
	plan->segment_table = arena_array(plan->arena, char, count * layout->segment + 1);
	plan->section_table =
		arena_array(plan->arena, char, plan->sections->len * layout->section + 1);
	return read_whole(plan->fd, offset, plan->segment_table, count * layout->segment, err) &&
	       read_whole(plan->fd, plan->sections->table_offset, plan->section_table,
			  plan->sections->len * layout->section, err);
}

/* What the rank of the file says about the sections that names need. */
static bool find_needs(struct plan *plan, struct err *err)
{
	const struct elf_sections *sections = plan->sections;
	enum debug_rank rank = debug_contents_of(plan->fd, sections).rank;
	elf_symbols symbols;
	uint64_t code = 0;

	plan->needs_go = rank == DEBUG_GO;
	if (rank != DEBUG_DYNSYM)
		return true;
	for (size_t i = 0; i < sections->len; i++)
		if ((sections->items[i].flags & SHF_EXECINSTR) &&
		    elf_section_has_bytes(&sections->items[i]))
			code += sections->items[i].size;
	if (code > SYMBOL_REACH_CODE_MAX)
		return true;
	if (!elf_symbols_read(plan->fd, sections, plan->arena, &symbols, err))
		return false;
	for (size_t i = 0; i < symbols.len; i++)
		plan->needs_code |= symbols.items[i].end_is_guess;
	return true;
}

static bool place_sections(struct plan *plan, struct err *err)
{
	const struct elf_sections *sections = plan->sections;
	const struct layout *layout = plan->layout;
	uint64_t kept = 0;

	for (size_t i = 1; i < sections->len; i++) {
		const struct elf_section *section = &sections->items[i];
		char *header = plan->section_table + i * layout->section;
		bool stays = is_kept(plan, i);
		uint32_t nothing = SHT_NOBITS;

		if (stays)
			align(plan, section->alignment);
		word_set(plan, header + layout->s_offset, plan->extract.size);
		if (stays) {
			plan->places[i] = plan->extract.size;
			add_piece(plan, section->size, section->offset, NULL);
			kept += section->size;
		} else if (elf_section_has_bytes(section)) {
			memcpy(header + layout->s_type, &nothing, sizeof(nothing));
		}
	}

	off_t len = lseek(plan->fd, 0, SEEK_END);

	/* Otherwise each header of a small file could refer to the same bytes. */
	if (len < 0 || kept > (uint64_t)len)
		return err_set(err, ERR_INVALID, "the sections overlap");
	return true;
}

/*
 * True if all sections of the segment are in the virtual file, with unchanged distances. *ret_place
 * is then the offset of the segment.
 */
static bool find_segment(const struct plan *plan, uint64_t offset, uint64_t size,
			 uint64_t *ret_place)
{
	bool found = false;
	uint64_t covered = 0, shift = 0;

	for (size_t i = 1; i < plan->sections->len; i++) {
		const struct elf_section *section = &plan->sections->items[i];

		if (!elf_section_has_bytes(section) || section->offset < offset ||
		    section->offset - offset >= size)
			continue;

		uint64_t here = plan->places[i] - section->offset; /* modulo 2^64 */

		if (!plan->places[i] || (found && here != shift) ||
		    section->size > size - (section->offset - offset))
			return false;
		found = true;
		shift = here;
		covered += section->size;
	}
	*ret_place = offset + shift;
	return found && covered <= size && size - covered < ALIGNMENT_MAX;
}

static void patch_segments(struct plan *plan)
{
	const struct layout *layout = plan->layout;

	for (size_t i = 0; i < plan->segment_count; i++) {
		char *header = plan->segment_table + i * layout->segment;
		uint64_t offset = word_get(plan, header + layout->p_offset);
		uint64_t size = word_get(plan, header + layout->p_size);
		uint64_t address = word_get(plan, header + layout->p_address);
		uint64_t alignment = word_get(plan, header + layout->p_alignment);
		uint64_t place;

		if (!size)
			continue;
		if (find_segment(plan, offset, size, &place)) {
			word_set(plan, header + layout->p_offset, place);
			continue;
		}
		/* Loaders require the offset to equal the address modulo the alignment. */
		word_set(plan, header + layout->p_offset, alignment > 1 ? address % alignment : 0);
		word_set(plan, header + layout->p_size, 0);
	}
}

bool debug_extract_plan(struct debug_extract *ret_extract, int fd,
			const struct elf_sections *sections, struct arena *arena, struct err *err)
{
	const struct layout *layout = &layouts[sections->is_wide];
	struct plan plan = { .arena = arena, .sections = sections, .layout = layout, .fd = fd };

	if (!sections->len)
		return err_set(err, ERR_INVALID, "the ELF file has no sections");
	if (sections->items[0].type != SHT_NULL) /* index 0 means "no section" */
		return err_set(err, ERR_INVALID, "the first section is not empty");
	plan.places = arena_array(arena, uint64_t, sections->len);
	plan.extract.pieces = arena_array(arena, struct debug_piece, 2 * sections->len + 4);
	if (!read_headers(&plan, err) || !find_needs(&plan, err))
		return false;
	add_piece(&plan, layout->file, 0, plan.file);
	word_set(&plan, plan.file + layout->segments_offset,
		 plan.segment_count ? plan.extract.size : 0);
	add_piece(&plan, plan.segment_count * layout->segment, 0, plan.segment_table);
	if (!place_sections(&plan, err))
		return false;
	patch_segments(&plan);
	align(&plan, HEADERS_ALIGNMENT);
	word_set(&plan, plan.file + layout->sections_offset, plan.extract.size);
	add_piece(&plan, sections->len * layout->section, 0, plan.section_table);
	if (!sections->is_wide && plan.extract.size > UINT32_MAX)
		return err_set(err, ERR_LIMIT, "a 32-bit file of more than 4 GB");
	*ret_extract = plan.extract;
	return true;
}

/* The piece that contains the offset `at`, which is inside the virtual file. */
static size_t find_piece(const struct debug_extract *extract, uint64_t at)
{
	size_t first = 0, end = extract->piece_count;

	while (end - first > 1) {
		size_t middle = first + (end - first) / 2;

		if (extract->pieces[middle].at <= at)
			first = middle;
		else
			end = middle;
	}
	return first;
}

bool debug_extract_read(const struct debug_extract *extract, int fd, uint64_t at, char *to,
			size_t len, size_t *ret_len, struct err *err)
{
	size_t have = 0;

	for (size_t i = at < extract->size ? find_piece(extract, at) : extract->piece_count;
	     i < extract->piece_count && have < len; i++) {
		const struct debug_piece *piece = &extract->pieces[i];
		uint64_t skip = at + have - piece->at;
		size_t n =
			piece->size - skip < len - have ? (size_t)(piece->size - skip) : len - have;

		if (piece->memory)
			memcpy(to + have, piece->memory + skip, n);
		else if (!read_whole(fd, piece->offset + skip, to + have, n, err))
			return false;
		have += n;
	}
	*ret_len = have;
	return true;
}
