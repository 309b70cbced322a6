// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_abbrev - a table of abbreviations (.debug_abbrev): the tag and the attributes of each code.
 * One thread per arena.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct dwarf_attribute {
	uint16_t name, form; /* DW_AT_*, DW_FORM_* */
	int64_t implicit;    /* the value, for DW_FORM_implicit_const */
};

struct dwarf_abbrev {
	uint64_t code;
	uint16_t tag; /* DW_TAG_* */
	bool has_children;
	uint32_t attribute_count;
	uint32_t fixed_len; /* bytes of all attributes; UINT32_MAX: variable */
	const struct dwarf_attribute *attributes;
};

struct dwarf_abbrevs {
	struct dwarf_abbrev *items; /* sorted by code */
	size_t len;
};

/* The parameters of a unit that lengths of attributes depend on. */
struct dwarf_sizes {
	uint8_t address_size, offset_size;
	uint16_t version;
};

/*
 * Parses the table at the beginning of bytes into the arena. False, with *ret_abbrevs unchanged:
 * the table is malformed, or the arena exceeds memory_max bytes.
 */
bool dwarf_abbrevs_read(str bytes, struct dwarf_sizes sizes, uint64_t memory_max,
			struct arena *arena, struct dwarf_abbrevs *ret_abbrevs) MUST_CHECK;

/* The abbreviation with this code, borrowed from the table; NULL: the table does not have it. */
const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *abbrevs, uint64_t code);
