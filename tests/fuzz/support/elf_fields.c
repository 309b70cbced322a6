// SPDX-License-Identifier: Apache-2.0
#include "support/elf_fields.h"

#include "base/reader.h"

#include <elf.h>

enum { SECTIONS_MAX = 256, RECORDS_MAX = 4096, WORDS_MAX = 16 };

const char *const elf_field_names[ELF_FIELD_COUNT] = { ELF_FIELD_KINDS(NAMED_TEXT) };

struct walk {
	str image;
	struct arena *arena;
	elf_fields *fields;
	bool is_wide;
	/* of the section that is walked */
	str bytes;
	size_t at; /* the next byte of `bytes` */
	bool is_needed;
	enum elf_field_kind kind;
};

struct section {
	uint32_t name, type;
	uint64_t flags, offset, size;
};

static uint64_t integer_at(str bytes, size_t at, size_t len)
{
	struct reader r = reader_of(str_skip(bytes, at));

	return len == 8   ? reader_u64(&r)
	       : len == 4 ? reader_u32(&r)
	       : len == 2 ? reader_u16(&r)
			  : reader_u8(&r);
}

static size_t left(const struct walk *walk)
{
	return walk->bytes.len - walk->at;
}

static void field_add(struct walk *walk, size_t len, bool is_range)
{
	size_t section = (size_t)(walk->bytes.ptr - walk->image.ptr);

	*vec_push(walk->arena, walk->fields) = (struct elf_field){
		.offset = section + walk->at,
		.len = len,
		.kind = walk->kind,
		.is_range = is_range,
		.is_needed = walk->is_needed,
		.section = section,
	};
	walk->at += len;
}

/* The next bytes up to `end`, without a layout. */
static void range_add(struct walk *walk, size_t end)
{
	end = end < walk->bytes.len ? end : walk->bytes.len;
	if (end > walk->at)
		field_add(walk, end - walk->at, true);
}

/* Adds an integer and returns its value; after the end of the section, 0. */
static uint64_t integer_add(struct walk *walk, size_t len)
{
	uint64_t value;

	if (left(walk) < len) {
		walk->at = walk->bytes.len;
		return 0;
	}
	value = integer_at(walk->bytes, walk->at, len);
	field_add(walk, len, false);
	return value;
}

/* Adds integers of the lengths given: a digit each. */
static void integers_add(struct walk *walk, const char *lengths)
{
	for (; *lengths; lengths++)
		integer_add(walk, (size_t)(*lengths - '0'));
}

static void records_walk(struct walk *walk, const char *lengths)
{
	for (int i = 0; i < RECORDS_MAX && left(walk); i++)
		integers_add(walk, lengths);
}

static void notes_walk(struct walk *walk)
{
	while (left(walk) >= 12) {
		uint64_t name = integer_add(walk, 4), contents = integer_add(walk, 4);

		integer_add(walk, 4);
		range_add(walk, walk->at + (name + 3) / 4 * 4 + (contents + 3) / 4 * 4);
	}
}

/* Adds the length that a unit of DWARF or a frame begins with, and returns where the unit ends. */
static size_t length_add(struct walk *walk, bool *ret_is_64)
{
	uint64_t length = integer_add(walk, 4);

	*ret_is_64 = length == UINT32_MAX;
	if (*ret_is_64)
		length = integer_add(walk, 8);
	return length < left(walk) ? walk->at + (size_t)length : walk->bytes.len;
}

static void frames_walk(struct walk *walk)
{
	enum { HEAD = 12 };

	for (int i = 0; i < RECORDS_MAX && left(walk); i++) {
		bool is_64;
		size_t end = length_add(walk, &is_64);

		integer_add(walk, 4);
		/* version, augmentation, factors; or addresses */
		range_add(walk, walk->at + HEAD < end ? walk->at + HEAD : end);
		range_add(walk, end);
	}
}

static void frame_index_walk(struct walk *walk)
{
	integers_add(walk, "111144");
	range_add(walk, walk->bytes.len);
}

static void units_walk(struct walk *walk)
{
	for (int i = 0; i < RECORDS_MAX && left(walk); i++) {
		bool is_64;
		size_t end;

		walk->kind = ELF_FIELD_UNIT;
		end = length_add(walk, &is_64);
		if (integer_add(walk, 2) >= 5) {
			integers_add(walk, is_64 ? "118" : "114");
		} else {
			integers_add(walk, is_64 ? "81" : "41");
		}
		walk->kind = ELF_FIELD_ENTRY;
		range_add(walk, end);
	}
}

static void lines_walk(struct walk *walk)
{
	for (int i = 0; i < RECORDS_MAX && left(walk); i++) {
		bool is_64;
		size_t end = length_add(walk, &is_64), header;

		if (integer_add(walk, 2) >= 5)
			integers_add(walk, "11");
		header = walk->at + integer_add(walk, is_64 ? 8 : 4);
		integers_add(walk, "111111");
		range_add(walk, header < end ? header : end); /* directories and files */
		range_add(walk, end);
	}
}

/* .debug_aranges, _rnglists, _loclists, _str_offsets, _addr: a length, counts, then the contents.
 */
static void tables_walk(struct walk *walk)
{
	for (int i = 0; i < RECORDS_MAX && left(walk); i++) {
		bool is_64;
		size_t end = length_add(walk, &is_64);

		integers_add(walk, "2114");
		range_add(walk, end);
	}
}

static void range_walk(struct walk *walk)
{
	range_add(walk, walk->bytes.len);
}

static void package_index_walk(struct walk *walk)
{
	integers_add(walk, "4444");
	records_walk(walk, "4");
}

static void symbols_walk(struct walk *walk)
{
	records_walk(walk, walk->is_wide ? "411288" : "444112");
}

static void relocations_walk(struct walk *walk)
{
	records_walk(walk, walk->is_wide ? "888" : "444");
}

static void dynamic_walk(struct walk *walk)
{
	records_walk(walk, walk->is_wide ? "88" : "44");
}

/* The last byte ends the last string. */
static void strings_walk(struct walk *walk)
{
	if (left(walk)) {
		range_add(walk, walk->bytes.len - 1);
		integer_add(walk, 1);
	}
}

static void go_table_walk(struct walk *walk)
{
	integers_add(walk, "411118888888");
	range_add(walk, walk->bytes.len);
}

/* xz: a header, blocks, an index, and a footer that says where the index is. */
static void mini_debug_walk(struct walk *walk)
{
	enum { HEADER = 12, BLOCK = 24, INDEX = 32, FOOTER = 12 };

	range_add(walk, HEADER);
	range_add(walk, BLOCK);
	if (left(walk) > INDEX)
		walk->at = walk->bytes.len - INDEX;
	range_add(walk, walk->bytes.len - FOOTER);
	range_add(walk, walk->bytes.len);
}

static void compression_walk(struct walk *walk)
{
	enum { STREAM_HEAD = 16 };

	integers_add(walk, walk->is_wide ? "4488" : "444");
	range_add(walk, walk->at + STREAM_HEAD);
	range_add(walk, walk->bytes.len);
}

/* "ZLIB" and the unpacked size. */
static void old_compression_walk(struct walk *walk)
{
	integers_add(walk, "48");
	range_add(walk, walk->bytes.len);
}

struct section_row {
	const char *name; /* or its beginning */
	enum elf_field_kind kind;
	bool is_needed; /* if it is loaded */
	void (*walk)(struct walk *walk);
};

static const struct section_row section_rows[] = {
	{ ".note", ELF_FIELD_NOTE, false, notes_walk },
	{ ".zdebug", ELF_FIELD_COMPRESSION, false, old_compression_walk },
	{ ".eh_frame_hdr", ELF_FIELD_FRAME, false, frame_index_walk },
	{ ".eh_frame", ELF_FIELD_FRAME, false, frames_walk },
	{ ".debug_frame", ELF_FIELD_FRAME, false, frames_walk },
	{ ".debug_info", ELF_FIELD_UNIT, false, units_walk },
	{ ".debug_types", ELF_FIELD_UNIT, false, units_walk },
	{ ".debug_abbrev", ELF_FIELD_ABBREVIATION, false, range_walk },
	{ ".debug_line_str", ELF_FIELD_STRING, false, strings_walk },
	{ ".debug_line", ELF_FIELD_LINE, false, lines_walk },
	{ ".debug_str_offsets", ELF_FIELD_TABLE, false, tables_walk },
	{ ".debug_str", ELF_FIELD_STRING, false, strings_walk },
	{ ".debug_aranges", ELF_FIELD_TABLE, false, tables_walk },
	{ ".debug_rnglists", ELF_FIELD_TABLE, false, tables_walk },
	{ ".debug_loclists", ELF_FIELD_TABLE, false, tables_walk },
	{ ".debug_addr", ELF_FIELD_TABLE, false, tables_walk },
	{ ".debug_cu_index", ELF_FIELD_TABLE, false, package_index_walk },
	{ ".debug_tu_index", ELF_FIELD_TABLE, false, package_index_walk },
	{ ".debug_", ELF_FIELD_TABLE, false, range_walk },
	{ ".symtab", ELF_FIELD_SYMBOL, false, symbols_walk },
	{ ".dynsym", ELF_FIELD_SYMBOL, true, symbols_walk },
	{ ".strtab", ELF_FIELD_STRING, false, strings_walk },
	{ ".shstrtab", ELF_FIELD_STRING, false, strings_walk },
	{ ".dynstr", ELF_FIELD_STRING, true, strings_walk },
	{ ".rela", ELF_FIELD_RELOCATION, true, relocations_walk },
	{ ".dynamic", ELF_FIELD_RELOCATION, true, dynamic_walk },
	{ ".gopclntab", ELF_FIELD_GO_TABLE, true, go_table_walk },
	{ ".gnu_debugdata", ELF_FIELD_MINI_DEBUG, false, mini_debug_walk },
	{ ".gnu_debuglink", ELF_FIELD_LINK, false, range_walk },
	{ ".gnu_debugaltlink", ELF_FIELD_LINK, false, range_walk },
};

static struct section section_at(const struct walk *walk, size_t at)
{
	size_t word = walk->is_wide ? 8 : 4;

	return (struct section){
		.name = (uint32_t)integer_at(walk->image, at, 4),
		.type = (uint32_t)integer_at(walk->image, at + 4, 4),
		.flags = integer_at(walk->image, at + 8, word),
		.offset = integer_at(walk->image, at + 8 + 2 * word, word),
		.size = integer_at(walk->image, at + 8 + 3 * word, word),
	};
}

static void contents_walk(struct walk *walk, const struct section *section, str name)
{
	struct walk inside = *walk;

	inside.bytes = str_skip(walk->image, section->offset);
	if (section->size < inside.bytes.len)
		inside.bytes.len = section->size;
	inside.at = 0;
	if (section->type == SHT_NOBITS || section->offset > walk->image.len)
		return;
	for (size_t i = 0; i < ARRAY_LEN(section_rows); i++) {
		const struct section_row *row = &section_rows[i];

		if (!str_starts_with(name, str_from(row->name)))
			continue;
		inside.kind = row->kind;
		inside.is_needed = row->is_needed && (section->flags & SHF_ALLOC);
		if (section->flags & SHF_COMPRESSED) {
			inside.kind = ELF_FIELD_COMPRESSION;
			compression_walk(&inside);
		} else {
			row->walk(&inside);
		}
		return;
	}
}

/* The string up to its NUL; without one, up to the end of the image. */
static str string_at(str image, uint64_t at)
{
	str rest = str_skip(image, at);

	return str_cut(&rest, 0);
}

static void sections_walk(struct walk *walk, uint64_t at, uint64_t count, uint64_t names_index)
{
	size_t entry = walk->is_wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct section names;

	if (at == 0 || at >= walk->image.len)
		return;
	names = section_at(walk, at + names_index * entry);
	for (uint64_t i = 0; i < count && i < SECTIONS_MAX; i++) {
		struct section section = section_at(walk, at + i * entry);

		walk->bytes = walk->image;
		walk->at = at + i * entry;
		walk->kind = ELF_FIELD_SECTION;
		walk->is_needed = false;
		if (walk->at >= walk->image.len)
			return;
		integers_add(walk, walk->is_wide ? "4488884488" : "4444444444");
		contents_walk(walk, &section, string_at(walk->image, names.offset + section.name));
	}
}

static void segments_walk(struct walk *walk, uint64_t at, uint64_t count)
{
	walk->bytes = walk->image;
	walk->at = at;
	walk->kind = ELF_FIELD_SEGMENT;
	for (uint64_t i = 0; at && i < count && i < SECTIONS_MAX && at < walk->image.len; i++) {
		uint64_t type = integer_at(walk->image, walk->at, 4);

		if (walk->at >= walk->image.len)
			return;
		walk->is_needed = type != PT_NOTE && type != PT_GNU_STACK && type != PT_GNU_RELRO &&
				  type != PT_GNU_EH_FRAME;
		integers_add(walk, walk->is_wide ? "44888888" : "44444444");
	}
}

void elf_fields_list(str image, struct arena *arena, elf_fields *fields)
{
	struct walk walk = { .image = image, .bytes = image, .arena = arena, .fields = fields };
	uint64_t segments, sections, segment_count, section_count, names_index;
	size_t word;

	if (image.len < sizeof(Elf64_Ehdr))
		return;
	walk.is_wide = image.ptr[EI_CLASS] == ELFCLASS64;
	word = walk.is_wide ? 8 : 4;
	walk.kind = ELF_FIELD_HEADER;
	walk.is_needed = true;
	integer_add(&walk, 4); /* the magic number */
	walk.is_needed = false;
	integers_add(&walk, "11111"); /* class, byte order, version, ABI */
	walk.at = EI_NIDENT;
	walk.is_needed = true;
	integers_add(&walk, "22"); /* type, machine */
	walk.is_needed = false;
	integer_add(&walk, 4);
	walk.is_needed = true;
	integer_add(&walk, word); /* entry */
	segments = integer_add(&walk, word);
	walk.is_needed = false;
	sections = integer_add(&walk, word);
	integers_add(&walk, "42"); /* flags, size of this header */
	walk.is_needed = true;
	integer_add(&walk, 2);
	segment_count = integer_add(&walk, 2);
	walk.is_needed = false;
	integer_add(&walk, 2);
	section_count = integer_add(&walk, 2);
	names_index = integer_add(&walk, 2);
	segments_walk(&walk, segments, segment_count);
	sections_walk(&walk, sections, section_count, names_index);
}
