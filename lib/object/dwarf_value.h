// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_value - what an attribute of an entry says.
 *
 * Reading one takes its bytes and no more: strings, addresses and references that stand elsewhere
 * are looked up when asked for.
 */
#pragma once

#include "dwarf_abbrev.h"
#include "dwarf_file.h"

enum dwarf_kind {
	DWARF_NOTHING, /* there is none, or of a form that says nothing to us */
	DWARF_NUMBER,
	DWARF_ADDRESS,
	DWARF_ADDRESS_INDEX,
	DWARF_OFFSET,        /* into another section */
	DWARF_RNGLIST_INDEX, /* into the unit's list of ranges */
	DWARF_STRING,        /* the bytes themselves */
	DWARF_STRING_OFFSET, /* of .debug_str */
	DWARF_STRING_LINE,   /* of .debug_line_str */
	DWARF_STRING_INDEX,  /* of .debug_str_offsets */
	DWARF_STRING_ALT,    /* of the alt file's .debug_str */
	DWARF_REFERENCE,     /* a place of this file's .debug_info */
	DWARF_REFERENCE_ALT, /* of the alt file's */
};

struct dwarf_value {
	enum dwarf_kind kind;
	uint64_t number;
	str bytes;
};

/* Bytes that a value of this form takes, where its kind alone says it. */
bool dwarf_form_len(uint16_t form, struct dwarf_sizes sizes, size_t *ret_len) MUST_CHECK;

/* The next value; a form that nobody knows makes the reader fail. */
struct dwarf_value dwarf_value_read(struct reader *r, const struct dwarf_unit *unit,
				    const struct dwarf_attribute *attribute);

/* Go past all values of an entry. */
void dwarf_values_skip(struct reader *r, const struct dwarf_unit *unit,
		       const struct dwarf_abbrev *abbrev);

/* Empty: it is no text, or not there. */
str dwarf_value_str(const struct dwarf_unit *unit, struct dwarf_value value);

/* False: it is no address, or not there. */
bool dwarf_value_address(const struct dwarf_unit *unit, struct dwarf_value value,
			 uint64_t *ret_address) MUST_CHECK;

/* The address with that number in the unit's part of .debug_addr. */
bool dwarf_address_at(const struct dwarf_unit *unit, uint64_t index,
		      uint64_t *ret_address) MUST_CHECK;

/* A word as wide as an address, or as an offset. */
uint64_t dwarf_word(struct reader *r, uint8_t size);

int64_t dwarf_sleb(struct reader *r); /* signed LEB128 */
str dwarf_text(struct reader *r);     /* up to a NUL, which is taken, too */
