// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_value - decodes the values of attributes.
 *
 * dwarf_value_read() reads only the bytes of the value itself. Strings and addresses that are in
 * other sections are looked up by dwarf_value_str() and dwarf_value_address(). Texts borrow from
 * the sections of the file. A reader that has failed stays so: check r->failed after a sequence of
 * reads. Any thread.
 */
#pragma once

#include "dwarf/dwarf_abbrev.h"
#include "dwarf/dwarf_file.h"

enum dwarf_kind {
	DWARF_NOTHING, /* no value, or a form that is skipped */
	DWARF_NUMBER,
	DWARF_ADDRESS,
	DWARF_ADDRESS_INDEX,
	DWARF_OFFSET,        /* in another section */
	DWARF_RNGLIST_INDEX, /* in the unit's part of .debug_rnglists */
	DWARF_STRING,        /* inline */
	DWARF_STRING_OFFSET, /* in .debug_str */
	DWARF_STRING_LINE,   /* in .debug_line_str */
	DWARF_STRING_INDEX,  /* in .debug_str_offsets */
	DWARF_STRING_ALT,    /* in .debug_str of the file of dwz */
	DWARF_REFERENCE,     /* offset in .debug_info of this file */
	DWARF_REFERENCE_ALT, /* offset in .debug_info of the file of dwz */
};

struct dwarf_value {
	enum dwarf_kind kind;
	uint64_t number;
	str bytes;
};

/* The length of a value of this form. False: it depends on the value, or the form is unknown. */
bool dwarf_form_len(uint16_t form, struct dwarf_sizes sizes, size_t *ret_len) MUST_CHECK;

/* Reads the next value. An unknown form makes the reader fail. */
struct dwarf_value dwarf_value_read(struct reader *r, const struct dwarf_unit *unit,
				    const struct dwarf_attribute *attribute);

/* Skips all values of an entry. Truncated values make the reader fail. */
void dwarf_values_skip(struct reader *r, const struct dwarf_unit *unit,
		       const struct dwarf_abbrev *abbrev);

/* The text of a string value. Empty: not a string, or it is not available. */
str dwarf_value_str(const struct dwarf_unit *unit, struct dwarf_value value);

/* The address of an address value. False: not an address, or it is not available. */
bool dwarf_value_address(const struct dwarf_unit *unit, struct dwarf_value value,
			 uint64_t *ret_address) MUST_CHECK;

/* The address with this index in the unit's part of .debug_addr. False: out of bounds. */
bool dwarf_address_at(const struct dwarf_unit *unit, uint64_t index,
		      uint64_t *ret_address) MUST_CHECK;

/* A little-endian word of `size` bytes: 1, 2, 4 or 8; another size makes the reader fail. */
uint64_t dwarf_word(struct reader *r, uint8_t size);

int64_t dwarf_sleb(struct reader *r); /* signed LEB128 */
str dwarf_text(struct reader *r);     /* up to a NUL, which is consumed; without NUL r fails */
