// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_value.h"
#include "symbols/go_module_internal.h"

#include <elf.h>

/* Indices of words in moduledata, which begins with a pointer to the table. */
enum {
	MODULE_TABLE,
	MODULE_NAMES,
	MODULE_FIRST = 20,
	MODULE_END,
	MODULE_TEXT,
	MODULE_DATA_OLD = 38,
	MODULE_DATA = 40,
	MODULE_WORDS
};

enum { PLACES_MAX = 16 /* relocations to the table that are tried */ };

struct words {
	uint64_t items[MODULE_WORDS];
};

static bool is_module(const struct go_module_key *key, const struct words *words)
{
	const uint64_t *items = words->items;
	uint64_t text = items[MODULE_TEXT];

	return items[MODULE_TABLE] == key->table && items[MODULE_NAMES] == key->names && text &&
	       items[MODULE_FIRST] == text + key->first && items[MODULE_END] == text + key->end;
}

static struct go_module module_of(const struct go_module_key *key, const struct words *words)
{
	return (struct go_module){ words->items[MODULE_TEXT],
				   words->items[key->is_old ? MODULE_DATA_OLD : MODULE_DATA] };
}

static bool data_search(const struct go_module_key *key, str bytes, struct go_module *ret_module)
{
	size_t size = key->pointer_size;

	for (; bytes.len >= MODULE_WORDS * size; bytes = str_skip(bytes, size)) {
		struct reader r = reader_of(bytes);
		struct words words = { { dwarf_word(&r, key->pointer_size) } };

		if (words.items[MODULE_TABLE] != key->table)
			continue;
		for (size_t i = 1; i < MODULE_WORDS; i++)
			words.items[i] = dwarf_word(&r, key->pointer_size);
		if (is_module(key, &words)) {
			*ret_module = module_of(key, &words);
			return true;
		}
	}
	return false;
}

/* False: at the end. *ret_value is what a relocation relative to the program's base adds. */
static bool relocation_next(struct reader *r, uint64_t *ret_place, uint64_t *ret_value)
{
	while (reader_left(r) >= sizeof(Elf64_Rela)) {
		uint64_t info;

		*ret_place = reader_u64(r);
		info = reader_u64(r);
		*ret_value = reader_u64(r);
		if (info == R_X86_64_RELATIVE || info == R_AARCH64_RELATIVE)
			return true;
	}
	return false;
}

static struct words words_at(str relocations, uint64_t address)
{
	struct reader r = reader_of(relocations);
	struct words words = { 0 };
	uint64_t place, value;

	while (relocation_next(&r, &place, &value))
		if (place >= address && (place - address) / 8 < MODULE_WORDS)
			words.items[(place - address) / 8] = value;
	return words;
}

static bool relocations_search(const struct go_module_key *key, str relocations,
			       struct go_module *ret_module)
{
	struct reader r = reader_of(relocations);
	uint64_t place, value;

	for (int tried = 0; tried < PLACES_MAX && relocation_next(&r, &place, &value);) {
		if (value != key->table)
			continue;
		tried++;

		struct words words = words_at(relocations, place);

		if (is_module(key, &words)) {
			*ret_module = module_of(key, &words);
			return true;
		}
	}
	return false;
}

bool go_module_find(const struct go_module_key *key, int fd, const struct elf_sections *sections,
		    struct arena *arena, struct go_module *ret_module, struct err *err)
{
	static const str places[] = { STR(".go.module"), STR(".noptrdata"), STR(".data"),
				      STR(".data.rel.ro") };
	struct go_module module = { 0 };
	str bytes;

	for (size_t i = 0; !module.text && i < ARRAY_LEN(places); i++) {
		if (!elf_section_read(fd, elf_sections_find(sections, places[i]), GO_TABLE_MAX,
				      arena, &bytes, err))
			return false;
		if (data_search(key, bytes, &module))
			break;
	}
	for (size_t i = 0; !module.text && key->pointer_size == 8 && i < sections->len; i++) {
		const struct elf_section *section = &sections->items[i];

		if (section->type != SHT_RELA || !(section->flags & SHF_ALLOC))
			continue;
		if (!elf_section_read(fd, section, GO_TABLE_MAX, arena, &bytes, err))
			return false;
		if (relocations_search(key, bytes, &module))
			break;
	}
	*ret_module = module;
	return true;
}
