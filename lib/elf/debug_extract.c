// SPDX-License-Identifier: Apache-2.0
#include "elf/debug_extract.h"

#include "base/buf.h"
#include "elf/debug_rank.h"
#include "elf/elf_symbols.h"
#include "elf/go_sections.h"

#include <elf.h>
#include <errno.h>

/* Headers are patched in place, in the byte order of the file. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ELF files here are little endian");

enum {
	ALIGNMENT_MAX = 64,
	HEADERS_ALIGNMENT = 8,
	NAME_MAX_LEN = 64, /* of a section of a package */
};

/* Offsets of fields, for 32-bit and 64-bit files. */
struct layout {
	size_t word, file, segment, section; /* lengths */
	size_t segments_offset, sections_offset, segment_size, segment_count, section_count;
	size_t p_offset, p_address, p_size, p_alignment;
	size_t s_name, s_type, s_flags, s_offset, s_size, s_alignment;
};

#define LAYOUT(bits)                                                                      \
	{                                                                                 \
		.word = (bits) / 8, .file = sizeof(Elf##bits##_Ehdr),                     \
		.segment = sizeof(Elf##bits##_Phdr), .section = sizeof(Elf##bits##_Shdr), \
		.segments_offset = offsetof(Elf##bits##_Ehdr, e_phoff),                   \
		.sections_offset = offsetof(Elf##bits##_Ehdr, e_shoff),                   \
		.segment_size = offsetof(Elf##bits##_Ehdr, e_phentsize),                  \
		.segment_count = offsetof(Elf##bits##_Ehdr, e_phnum),                     \
		.section_count = offsetof(Elf##bits##_Ehdr, e_shnum),                     \
		.p_offset = offsetof(Elf##bits##_Phdr, p_offset),                         \
		.p_address = offsetof(Elf##bits##_Phdr, p_vaddr),                         \
		.p_size = offsetof(Elf##bits##_Phdr, p_filesz),                           \
		.p_alignment = offsetof(Elf##bits##_Phdr, p_align),                       \
		.s_name = offsetof(Elf##bits##_Shdr, sh_name),                            \
		.s_type = offsetof(Elf##bits##_Shdr, sh_type),                            \
		.s_flags = offsetof(Elf##bits##_Shdr, sh_flags),                          \
		.s_offset = offsetof(Elf##bits##_Shdr, sh_offset),                        \
		.s_size = offsetof(Elf##bits##_Shdr, sh_size),                            \
		.s_alignment = offsetof(Elf##bits##_Shdr, sh_addralign),                  \
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
	const struct debug_package *package; /* NULL: none */
	const struct layout *layout;
	int fd;
	char *file, *segment_table, *section_table;
	size_t section_count; /* with those of the package */
	struct buf names;     /* of the sections, if there is a package */
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

static void add_piece(struct plan *plan, struct debug_piece piece)
{
	struct debug_extract *extract = &plan->extract;

	if (!piece.size)
		return;
	piece.at = extract->size;
	extract->pieces[extract->piece_count++] = piece;
	extract->size += piece.size;
}

static void add_memory(struct plan *plan, const char *bytes, uint64_t size)
{
	add_piece(plan, (struct debug_piece){ .size = size, .memory = bytes, .fd = -1 });
}

static void add_section(struct plan *plan, int fd, const struct elf_section *section)
{
	add_piece(plan, (struct debug_piece){
				.size = section->size, .offset = section->offset, .fd = fd });
}

static void align(struct plan *plan, uint64_t alignment)
{
	static const char zeros[ALIGNMENT_MAX];

	/* The alignment is untrusted: it may not be a power of two. */
	if (alignment > 1 && alignment <= ALIGNMENT_MAX && plan->extract.size % alignment)
		add_memory(plan, zeros, alignment - plan->extract.size % alignment);
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
		arena_array(plan->arena, char, plan->section_count * layout->section + 1);
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

/* Otherwise each header of a small file could refer to the same bytes. */
static bool check_overlap(int fd, uint64_t kept, struct err *err)
{
	off_t len = lseek(fd, 0, SEEK_END);

	return (len >= 0 && kept <= (uint64_t)len) ||
	       err_set(err, ERR_INVALID, "the sections overlap");
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
			add_section(plan, plan->fd, section);
			kept += section->size;
		} else if (elf_section_has_bytes(section)) {
			memcpy(header + layout->s_type, &nothing, sizeof(nothing));
		}
	}

	return check_overlap(plan->fd, kept, err);
}

static bool is_of_package(const struct elf_section *section)
{
	return elf_section_has_bytes(section) && section->name.len <= NAME_MAX_LEN &&
	       str_starts_with(section->name, STR(".debug_"));
}

/* Counts the sections of the package, and begins the table of names with the file's own names. */
static bool begin_package(struct plan *plan, struct err *err)
{
	const struct elf_sections *own = plan->sections, *others = &plan->package->sections;
	str names;

	if (others->is_wide != own->is_wide || others->machine != own->machine)
		return err_set(err, ERR_INVALID, "the package is of another machine");
	for (size_t i = 1; i < others->len; i++)
		plan->section_count += is_of_package(&others->items[i]);
	if (plan->section_count >= SHN_LORESERVE)
		return err_set(err, ERR_LIMIT, "%zu sections with those of the package",
			       plan->section_count);
	if (own->names_index == 0 || own->names_index >= own->len ||
	    !elf_section_has_bytes(&own->items[own->names_index]))
		return err_set(err, ERR_INVALID, "the sections have no names");
	if (!elf_section_read(plan->fd, &own->items[own->names_index], ELF_NAMES_MAX, plan->arena,
			      &names, err))
		return false;
	plan->names.arena = plan->arena;
	buf_str(&plan->names, names);
	return true;
}

static void u32_set(char *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
}

static void place_section_of_package(struct plan *plan, const struct elf_section *section,
				     char *header)
{
	const struct layout *layout = plan->layout;

	align(plan, section->alignment);
	u32_set(header + layout->s_name, (uint32_t)plan->names.len);
	u32_set(header + layout->s_type, section->type);
	word_set(plan, header + layout->s_flags, section->flags & SHF_COMPRESSED);
	word_set(plan, header + layout->s_offset, plan->extract.size);
	word_set(plan, header + layout->s_size, section->size);
	word_set(plan, header + layout->s_alignment, section->alignment);
	buf_str(&plan->names, section->name);
	buf_u8(&plan->names, 0);
	add_section(plan, plan->package->fd, section);
}

/* The sections of the package, and the names of all sections. */
static bool place_package(struct plan *plan, struct err *err)
{
	const struct elf_sections *sections = &plan->package->sections;
	const struct layout *layout = plan->layout;
	char *names = plan->section_table + plan->sections->names_index * layout->section;
	char *header = plan->section_table + plan->sections->len * layout->section;
	uint16_t count = (uint16_t)plan->section_count;
	uint64_t kept = 0;

	for (size_t i = 1; i < sections->len; i++) {
		if (!is_of_package(&sections->items[i]))
			continue;
		place_section_of_package(plan, &sections->items[i], header);
		header += layout->section;
		kept += sections->items[i].size;
	}
	word_set(plan, names + layout->s_offset, plan->extract.size);
	word_set(plan, names + layout->s_size, plan->names.len);
	add_memory(plan, plan->names.ptr, plan->names.len);
	memcpy(plan->file + layout->section_count, &count, sizeof(count));
	return check_overlap(plan->package->fd, kept, err);
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
			const struct elf_sections *sections, const struct debug_package *package,
			struct arena *arena, struct err *err)
{
	const struct layout *layout = &layouts[sections->is_wide];
	struct plan plan = { .arena = arena,
			     .sections = sections,
			     .package = package,
			     .layout = layout,
			     .fd = fd,
			     .section_count = sections->len };

	if (!sections->len)
		return err_set(err, ERR_INVALID, "the ELF file has no sections");
	if (sections->items[0].type != SHT_NULL) /* index 0 means "no section" */
		return err_set(err, ERR_INVALID, "the first section is not empty");
	if (package && !begin_package(&plan, err))
		return false;
	plan.places = arena_array(arena, uint64_t, sections->len);
	plan.extract.pieces = arena_array(arena, struct debug_piece, 2 * plan.section_count + 5);
	if (!read_headers(&plan, err) || !find_needs(&plan, err))
		return false;
	add_memory(&plan, plan.file, layout->file);
	word_set(&plan, plan.file + layout->segments_offset,
		 plan.segment_count ? plan.extract.size : 0);
	add_memory(&plan, plan.segment_table, plan.segment_count * layout->segment);
	if (!place_sections(&plan, err) || (package && !place_package(&plan, err)))
		return false;
	patch_segments(&plan);
	align(&plan, HEADERS_ALIGNMENT);
	word_set(&plan, plan.file + layout->sections_offset, plan.extract.size);
	add_memory(&plan, plan.section_table, plan.section_count * layout->section);
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

bool debug_extract_read(const struct debug_extract *extract, uint64_t at, char *to, size_t len,
			size_t *ret_len, struct err *err)
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
		else if (!read_whole(piece->fd, piece->offset + skip, to + have, n, err))
			return false;
		have += n;
	}
	*ret_len = have;
	return true;
}
