// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_symbols.h"

#include "base/reader.h"

#include <elf.h>

struct candidate {
	struct elf_symbol symbol;
	uint64_t section_end;
	size_t rank;  /* the lowest is the best */
	size_t place; /* index in the table; of equal ranks the last symbol wins */
};

static str name_at(str names, uint32_t offset)
{
	str rest = str_skip(names, offset);
	const char *end = rest.len ? memchr(rest.ptr, 0, rest.len) : NULL;

	return (str){ rest.ptr, end ? (size_t)(end - rest.ptr) : 0 };
}

/* Mapping symbols of ARM, which mark the begin of code and data, and labels of compilers. */
static bool is_marker(str name)
{
	return name.len == 0 || name.ptr[0] == '$' || str_starts_with(name, STR(".L"));
}

static size_t rank_of(unsigned char type, unsigned char binding, bool has_size, str name)
{
	size_t underscores = 0, len = name.len < 255 ? name.len : 255;

	while (underscores < len && underscores < 15 && name.ptr[underscores] == '_')
		underscores++;
	return (size_t)(type == STT_NOTYPE) << 20 | (size_t)!has_size << 19 |
	       (size_t)(binding == STB_LOCAL) << 18 | (size_t)elf_symbol_is_internal(name) << 17 |
	       underscores << 9 | (size_t)(binding == STB_WEAK) << 8 | len;
}

static bool is_code(const struct elf_section *section)
{
	return (section->flags & SHF_ALLOC) && (section->flags & SHF_EXECINSTR);
}

/* False: the symbol is not for code. *file is that of the local symbols that follow. */
static bool symbol_parse(str bytes, str names, const struct elf_sections *sections, str *file,
			 struct candidate *ret_candidate)
{
	struct reader r = reader_of(bytes);
	struct candidate candidate = { 0 };
	uint32_t name = reader_u32(&r);
	uint64_t size = 0;

	if (!sections->is_wide) {
		candidate.symbol.start = reader_u32(&r);
		size = reader_u32(&r);
	}

	uint8_t info = reader_u8(&r);
	unsigned char type = info & 0xf, binding = info >> 4;

	reader_u8(&r); /* visibility */

	uint16_t index = reader_u16(&r);

	if (sections->is_wide) {
		candidate.symbol.start = reader_u64(&r);
		size = reader_u64(&r);
	}
	if (type == STT_FILE)
		*file = name_at(names, name);
	if (r.failed || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    index == SHN_UNDEF || index >= sections->len || !is_code(&sections->items[index]))
		return false;

	const struct elf_section *section = &sections->items[index];
	uint64_t start = candidate.symbol.start, section_end;

	if (__builtin_add_overflow(section->address, section->size, &section_end))
		return false;
	candidate.symbol.name = name_at(names, name);
	candidate.symbol.is_public = binding != STB_LOCAL && type == STT_FUNC;
	if (binding == STB_LOCAL)
		candidate.symbol.file = *file;
	if (is_marker(candidate.symbol.name) || start < section->address || start >= section_end)
		return false;
	candidate.section_end = section_end;
	candidate.symbol.end_is_guess = !size;
	candidate.symbol.end = size && size < section_end - start ? start + size
			       : size                             ? section_end
								  : 0;
	candidate.rank = rank_of(type, binding, size > 0, candidate.symbol.name);
	*ret_candidate = candidate;
	return true;
}

static int candidate_compare(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->symbol.start != b->symbol.start)
		return a->symbol.start < b->symbol.start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->place > b->place ? -1 : a->place < b->place; /* like other tools */
}

/* Keeps the best symbol of each address. A symbol without a size ends where the next one begins. */
static elf_symbols symbols_choose(const struct candidate *candidates, size_t count,
				  struct arena *arena)
{
	elf_symbols symbols = { 0 };

	for (size_t i = 0; i < count;) {
		struct elf_symbol best = candidates[i].symbol;
		size_t next = i + 1;

		while (next < count && candidates[next].symbol.start == best.start)
			next++;
		if (!best.end) {
			best.end = candidates[i].section_end;
			if (next < count && candidates[next].symbol.start < best.end)
				best.end = candidates[next].symbol.start;
		}
		*vec_push(arena, &symbols) = best;
		i = next;
	}
	return symbols;
}

typedef elf_symbols candidates_select(const struct candidate *candidates, size_t count,
				      struct arena *arena);

static elf_symbols symbols_keep(const struct candidate *candidates, size_t count,
				struct arena *arena)
{
	elf_symbols symbols = { .items = arena_array(arena, struct elf_symbol, count) };

	for (; symbols.len < count; symbols.len++) {
		symbols.items[symbols.len] = candidates[symbols.len].symbol;
		if (!symbols.items[symbols.len].end)
			symbols.items[symbols.len].end = candidates[symbols.len].section_end;
	}
	return symbols;
}

static bool table_read(int fd, const struct elf_sections *sections, const struct elf_section *table,
		       uint64_t max_bytes, candidates_select *select, struct arena *arena,
		       elf_symbols *ret_symbols, struct err *err)
{
	size_t entry = sections->is_wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), count = 0;
	str bytes, names, file = { 0 };

	if (!elf_section_has_bytes(table) || table->link >= sections->len)
		return true;
	if (!elf_section_read(fd, table, max_bytes, arena, &bytes, err) ||
	    !elf_section_read(fd, &sections->items[table->link], max_bytes, arena, &names, err))
		return false;

	struct candidate *candidates = arena_array(arena, struct candidate, bytes.len / entry);

	for (; bytes.len >= entry; bytes = str_skip(bytes, entry))
		if (symbol_parse((str){ bytes.ptr, entry }, names, sections, &file,
				 &candidates[count])) {
			candidates[count].place = count;
			count++;
		}
	if (count)
		qsort(candidates, count, sizeof(*candidates), candidate_compare);
	*ret_symbols = select(candidates, count, arena);
	for (size_t i = 0; table->type == SHT_SYMTAB && i < ret_symbols->len; i++)
		ret_symbols->items[i].end_is_guess = false;
	return true;
}

static bool symbols_read(int fd, const struct elf_sections *sections, uint64_t max_bytes,
			 candidates_select *select, struct arena *arena, elf_symbols *ret_symbols,
			 struct err *err)
{
	static const str tables[] = { STR(".symtab"), STR(".dynsym") };

	*ret_symbols = (elf_symbols){ 0 };
	for (size_t i = 0; i < ARRAY_LEN(tables) && ret_symbols->len == 0; i++)
		if (!table_read(fd, sections, elf_sections_find(sections, tables[i]), max_bytes,
				select, arena, ret_symbols, err))
			return err_wrap(err, "read " STR_FMT, STR_ARG(tables[i]));
	return true;
}

bool elf_symbols_read(int fd, const struct elf_sections *sections, struct arena *arena,
		      elf_symbols *ret_symbols, struct err *err)
{
	return symbols_read(fd, sections, ELF_SYMBOLS_BYTES_MAX, symbols_choose, arena, ret_symbols,
			    err);
}

bool elf_symbols_read_all(int fd, const struct elf_sections *sections, uint64_t max_bytes,
			  struct arena *arena, elf_symbols *ret_symbols, struct err *err)
{
	return symbols_read(fd, sections, max_bytes, symbols_keep, arena, ret_symbols, err);
}
