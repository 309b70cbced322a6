// SPDX-License-Identifier: Apache-2.0
#include "base/reader.h"
#include "elf/limits.h"
#include "symbols/elf_plt_internal.h"

#include <elf.h>

enum { STUB_BYTES = 16 };

/* A slot of the global offset table (GOT), and the index of its symbol in .dynsym. */
struct slot {
	uint64_t address;
	uint32_t symbol;
};

typedef VEC(struct slot) slots;

struct plt_scan {
	int fd;
	const struct elf_sections *sections;
	struct arena *arena;
	slots slots;
	str symbols, names; /* .dynsym */
	elf_symbols found;
};

static bool section_read(struct plt_scan *scan, const struct elf_section *section, str *ret_bytes,
			 struct err *err)
{
	return elf_section_read(scan->fd, section, ELF_SYMBOLS_BYTES_MAX, scan->arena, ret_bytes,
				err);
}

/* The numbers differ between the machines; no number of one means something else on the other. */
static bool is_of_symbol(uint32_t type)
{
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
	       type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static int slot_compare(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static bool slots_read(struct plt_scan *scan, struct err *err)
{
	static const str tables[] = { STR(".rela.plt"), STR(".rela.dyn") };

	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		str bytes;

		if (!section_read(scan, elf_sections_find(scan->sections, tables[i]), &bytes, err))
			return false;
		for (struct reader r = reader_of(bytes); reader_left(&r) >= sizeof(Elf64_Rela);) {
			uint64_t address = reader_u64(&r), info = reader_u64(&r);

			reader_u64(&r); /* addend */
			if (is_of_symbol((uint32_t)ELF64_R_TYPE(info)))
				*vec_push(scan->arena, &scan->slots) =
					(struct slot){ address, (uint32_t)ELF64_R_SYM(info) };
		}
	}
	if (scan->slots.len)
		qsort(scan->slots.items, scan->slots.len, sizeof(struct slot), slot_compare);
	return true;
}

/* The name of the slot's symbol; empty: there is no such slot. */
static str slot_name(const struct plt_scan *scan, uint64_t address)
{
	struct slot key = { .address = address };
	const struct slot *slot = scan->slots.len
					  ? bsearch(&key, scan->slots.items, scan->slots.len,
						    sizeof(struct slot), slot_compare)
					  : NULL;

	if (!slot)
		return (str){ 0 };

	struct reader r =
		reader_of(str_skip(scan->symbols, (uint64_t)slot->symbol * sizeof(Elf64_Sym)));
	str rest = str_skip(scan->names, reader_u32(&r));
	const char *end = rest.len && !r.failed ? memchr(rest.ptr, 0, rest.len) : NULL;

	return (str){ rest.ptr, end ? (size_t)(end - rest.ptr) : 0 };
}

/* Adds a stub that jumps through this slot, if the slot exists. */
static void stub_add(struct plt_scan *scan, uint64_t start, uint64_t slot, uint64_t section_end)
{
	str name = slot_name(scan, slot);

	if (!name.len)
		return;
	if (scan->found.len) {
		struct elf_symbol *last = &scan->found.items[scan->found.len - 1];

		if (last->start < start && last->end > start) /* stubs of 8 bytes */
			last->end = start;
	}
	*vec_push(scan->arena, &scan->found) = (struct elf_symbol){
		start,
		section_end - start < STUB_BYTES ? section_end : start + STUB_BYTES,
		str_format(scan->arena, STR_FMT "@plt", STR_ARG(name)),
	};
}

/* [endbr64] [bnd] jmp *slot(%rip) */
static void x86_scan(struct plt_scan *scan, const struct elf_section *section, str bytes)
{
	for (size_t at = 0; at + 6 <= bytes.len; at++) {
		struct reader r = reader_of(str_skip(bytes, at));
		size_t start = at;

		if (reader_u16(&r) != 0x25ff)
			continue;

		uint64_t slot = section->address + at + 6 + (uint64_t)(int32_t)reader_u32(&r);

		if (start >= 1 && bytes.ptr[start - 1] == '\xf2')
			start -= 1;
		if (start >= 4 && memcmp(bytes.ptr + start - 4, "\xf3\x0f\x1e\xfa", 4) == 0)
			start -= 4;
		stub_add(scan, section->address + start, slot, section->address + bytes.len);
	}
}

/* adrp x16, page; ldr x17, [x16, offset] */
static void arm_scan(struct plt_scan *scan, const struct elf_section *section, str bytes)
{
	for (size_t at = 0; at + 8 <= bytes.len; at += 4) {
		struct reader r = reader_of(str_skip(bytes, at));
		uint32_t adrp = reader_u32(&r), ldr = reader_u32(&r);

		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;

		/* 21 bits of pages, signed; the two low bits are separate */
		uint64_t pages = (adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
		uint64_t page = (section->address + at) & ~0xfffULL;

		if (pages & 1 << 20)
			pages |= UINT64_MAX << 21;
		stub_add(scan, section->address + at,
			 page + (pages << 12) + (ldr >> 10 & 0xfff) * 8,
			 section->address + bytes.len);
	}
}

static int symbol_compare(const void *left, const void *right)
{
	const struct elf_symbol *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

bool elf_plt_read(int fd, const struct elf_sections *sections, struct arena *arena,
		  elf_symbols *ret_symbols, struct err *err)
{
	static const str places[] = { STR(".plt"), STR(".plt.sec"), STR(".plt.got") };
	struct plt_scan scan = { .fd = fd, .sections = sections, .arena = arena };
	const struct elf_section *symbols = elf_sections_find(sections, STR(".dynsym"));

	*ret_symbols = (elf_symbols){ 0 };
	if (!sections->is_wide || !elf_section_has_bytes(symbols) || symbols->link >= sections->len)
		return true;
	if (!section_read(&scan, symbols, &scan.symbols, err) ||
	    !section_read(&scan, &sections->items[symbols->link], &scan.names, err) ||
	    !slots_read(&scan, err))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const struct elf_section *section = elf_sections_find(sections, places[i]);
		str bytes;

		if (!section_read(&scan, section, &bytes, err))
			return false;
		if (!bytes.len || section->address > UINT64_MAX - bytes.len)
			continue;
		x86_scan(&scan, section, bytes);
		arm_scan(&scan, section, bytes);
	}
	if (scan.found.len)
		qsort(scan.found.items, scan.found.len, sizeof(struct elf_symbol), symbol_compare);
	*ret_symbols = scan.found;
	return true;
}
