// SPDX-License-Identifier: Apache-2.0
#include "support/elf_mutant.h"

#include "base/hash.h"

#include <elf.h>

enum { CHANGES_MAX = 4, RARELY = 16, COPY_MAX = 32 };

/* SplitMix64: https://prng.di.unimi.it/splitmix64.c */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t random_below(uint64_t *state, uint64_t bound)
{
	return bound ? random_next(state) % bound : 0;
}

static uint64_t integer_read(const char *image, const struct elf_field *field)
{
	uint64_t value = 0;

	memcpy(&value, image + field->offset, field->len);
	return value;
}

/* A value that breaks parsers, for a field whose value is `now`. */
static uint64_t value_pick(uint64_t *state, uint64_t now, const struct elf_field *field, size_t len)
{
	size_t inside = field->offset - field->section;
	uint64_t values[] = {
		0,
		1,
		UINT64_MAX,
		now + 1,
		now - 1,
		now + 8,
		now * 2,
		now / 2,
		~now,
		INT8_MAX,
		UINT8_MAX,
		INT16_MAX,
		UINT16_MAX,
		INT32_MAX,
		(uint64_t)INT32_MAX + 1,
		UINT32_MAX - 1,
		(uint64_t)UINT32_MAX + 1,
		INT64_MAX,
		(uint64_t)INT64_MAX + 1,
		UINT64_MAX - 7,
		len,
		len - 1,
		len + 1,
		len - field->offset, /* up to the end of the file */
		field->offset,
		inside, /* points to itself */
		0 - (uint64_t)inside,
		random_below(state, inside + 1), /* points backwards */
		random_below(state, len + 1),
		random_below(state, 64),
		random_next(state),
	};

	return values[random_below(state, ARRAY_LEN(values))];
}

/* The integer at a random place of a range. */
static struct elf_field place_pick(uint64_t *state, const struct elf_field *range)
{
	struct elf_field place = *range;

	/* most numbers of DWARF are varints of one byte */
	place.len = random_below(state, 2) ? 1 : (size_t)1 << random_below(state, 4);
	if (place.len > range->len)
		place.len = 1;
	place.offset += random_below(state, range->len - place.len + 1);
	return place;
}

/* Copies a piece of the range to another place of it: an entry that is there twice, or a varint
 * that goes on. */
static void piece_copy(uint64_t *state, char *image, const struct elf_field *range)
{
	size_t most = range->len < COPY_MAX ? range->len : COPY_MAX;
	size_t len = 1 + random_below(state, most);

	memmove(image + range->offset + random_below(state, range->len - len + 1),
		image + range->offset + random_below(state, range->len - len + 1), len);
}

static void varint_write(uint64_t *state, char *image, const struct elf_field *range)
{
	static const char longest[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	size_t len = range->len < sizeof(longest) - 1 ? range->len : sizeof(longest) - 1;
	size_t from = random_below(state, len);

	memcpy(image + range->offset + random_below(state, range->len - len + 1), longest + from,
	       len - from);
}

static void field_change(uint64_t *state, char *image, size_t len, const elf_fields *fields,
			 size_t index)
{
	struct elf_field field = fields->items[index];
	const struct elf_field *other = &fields->items[random_below(state, fields->len)];
	uint64_t value;

	if (field.is_range && random_below(state, 8) == 0) {
		piece_copy(state, image, &field);
		return;
	}
	if (field.is_range && random_below(state, 8) == 0) {
		varint_write(state, image, &field);
		return;
	}
	if (field.is_range)
		field = place_pick(state, &field);
	value = value_pick(state, integer_read(image, &field), &field, len);
	if (random_below(state, 4) == 0 && other->len == field.len && !other->is_range)
		value = integer_read(image, other);
	memcpy(image + field.offset, &value, field.len);
}

/* The fields of one kind, without those that are needed if the program has to run. */
static void fields_select(const elf_fields *all, enum elf_field_kind kind, bool has_to_run,
			  struct arena *arena, elf_fields *ret_fields)
{
	ret_fields->len = 0;
	for (size_t i = 0; i < all->len; i++)
		if (all->items[i].kind == kind && !(has_to_run && all->items[i].is_needed))
			*vec_push(arena, ret_fields) = all->items[i];
}

/* How much of a file the program headers of its loaded segments need. */
static size_t loaded_end(const char *image, size_t len)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	size_t end = sizeof(header);

	if (len < sizeof(header))
		return len;
	memcpy(&header, image, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		uint64_t at = header.e_phoff + i * sizeof(segment);

		if (at > len || len - at < sizeof(segment))
			break;
		memcpy(&segment, image + at, sizeof(segment));
		if (segment.p_type == PT_LOAD && segment.p_offset <= len &&
		    segment.p_filesz <= len - segment.p_offset &&
		    segment.p_offset + segment.p_filesz > end)
			end = segment.p_offset + segment.p_filesz;
	}
	return end;
}

size_t elf_mutate(char *image, size_t len, uint64_t seed, bool has_to_run, uint32_t *ret_kinds)
{
	AUTO_ARENA arena = { 0 };
	elf_fields all = { 0 }, some = { 0 };
	uint32_t kinds = 0;
	/* neighbouring seeds share no numbers */
	uint64_t state = hash_seeded_u64(seed, 0), changes = 1 + random_below(&state, CHANGES_MAX);

	elf_fields_list((str){ image, len }, &arena, &all);
	for (uint64_t tries = 0; changes && all.len && tries < 100; tries++) {
		enum elf_field_kind kind =
			(enum elf_field_kind)random_below(&state, ELF_FIELD_COUNT);

		fields_select(&all, kind, has_to_run, &arena, &some);
		if (some.len == 0)
			continue;
		field_change(&state, image, len, &some, random_below(&state, some.len));
		kinds |= 1U << kind;
		changes--;
	}
	if (random_below(&state, RARELY) == 0) {
		size_t least = has_to_run ? loaded_end(image, len) : 0;

		len = least + random_below(&state, len - least + 1);
		kinds |= ELF_MUTANT_CUT;
	}
	if (ret_kinds)
		*ret_kinds = kinds;
	return len;
}

bool elf_mutant_identify(char *image, size_t len, const char id[static ELF_MUTANT_ID_BYTES])
{
	static const char note[] = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU"; /* and a NUL */
	size_t at = str_find((str){ image, len }, (str){ note, sizeof(note) });

	if (at == SIZE_MAX || len - at < sizeof(note) + ELF_MUTANT_ID_BYTES)
		return false;
	memcpy(image + at + sizeof(note), id, ELF_MUTANT_ID_BYTES);
	return true;
}
