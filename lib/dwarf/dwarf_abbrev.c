// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_abbrev.h"

#include "base/reader.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "dwarf/dwarf_value.h"
#include "elf/limits.h"

#include <dwarf.h>

/* The attributes, up to the pair of zeros. False: truncated, or a name or form is out of range. */
static bool attributes_read(struct reader *r, struct dwarf_sizes sizes, struct arena *arena,
			    struct dwarf_abbrev *abbrev)
{
	VEC(struct dwarf_attribute) attributes = { 0 };
	uint64_t fixed = 0;

	for (;;) {
		uint64_t name = reader_varint(r), form = reader_varint(r);
		size_t len;

		if (r->failed || name > UINT16_MAX || form > UINT16_MAX ||
		    attributes.len > DWARF_ATTRIBUTES_MAX)
			return false;
		if (name == 0 && form == 0)
			break;

		struct dwarf_attribute attribute = { (uint16_t)name, (uint16_t)form, 0 };

		if (form == DW_FORM_implicit_const)
			attribute.implicit = dwarf_sleb(r);
		*vec_push(arena, &attributes) = attribute;
		fixed += dwarf_form_len(attribute.form, sizes, &len) ? len : UINT32_MAX;
	}
	abbrev->attributes = attributes.items;
	abbrev->attribute_count = (uint32_t)attributes.len;
	abbrev->fixed_len = fixed < UINT32_MAX ? (uint32_t)fixed : UINT32_MAX;
	return true;
}

/* One abbreviation. Code 0 ends the table. False: truncated or malformed. */
static bool abbrev_read(struct reader *r, struct dwarf_sizes sizes, struct arena *arena,
			struct dwarf_abbrev *abbrev)
{
	*abbrev = (struct dwarf_abbrev){ .code = reader_varint(r) };
	if (abbrev->code == 0)
		return !r->failed;

	uint64_t tag = reader_varint(r);

	abbrev->tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
	abbrev->has_children = reader_u8(r);
	return attributes_read(r, sizes, arena, abbrev);
}

static int abbrev_compare(const void *left, const void *right)
{
	const struct dwarf_abbrev *a = left, *b = right;

	return a->code < b->code ? -1 : a->code > b->code;
}

bool dwarf_abbrevs_read(str bytes, struct dwarf_sizes sizes, uint64_t memory_max,
			struct arena *arena, struct dwarf_abbrevs *ret_abbrevs)
{
	struct reader r = reader_of(bytes);
	VEC(struct dwarf_abbrev) abbrevs = { 0 };
	struct dwarf_abbrev abbrev;
	bool is_sorted = true;

	for (;;) {
		if (!abbrev_read(&r, sizes, arena, &abbrev) || arena->size > memory_max)
			return false;
		if (abbrev.code == 0)
			break;
		if (abbrevs.len && abbrevs.items[abbrevs.len - 1].code >= abbrev.code)
			is_sorted = false;
		*vec_push(arena, &abbrevs) = abbrev;
	}
	if (!is_sorted)
		qsort(abbrevs.items, abbrevs.len, sizeof(*abbrevs.items), abbrev_compare);
	*ret_abbrevs = (struct dwarf_abbrevs){ abbrevs.items, abbrevs.len };
	return true;
}

const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	const struct dwarf_abbrev *items = abbrevs->items;

	/* Compilers count from 1. */
	if (code - 1 < abbrevs->len && items[code - 1].code == code)
		return &items[code - 1];

	size_t before = sorted_before(items, abbrevs->len, each, each->code < code);

	return before < abbrevs->len && items[before].code == code ? &items[before] : NULL;
}
