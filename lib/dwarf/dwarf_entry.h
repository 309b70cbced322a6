// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_entry - the attributes of a DWARF entry (DIE) that symbolization needs.
 *
 * An entry may be incomplete and refer to its base entry (DW_AT_abstract_origin or
 * DW_AT_specification), which has the other attributes. Texts borrow from the sections of the file.
 * One thread per file.
 */
#pragma once

#include "dwarf/dwarf_value.h"

struct dwarf_entry {
	uint64_t at; /* offset in .debug_info */
	struct dwarf_value low, high, ranges;
	struct dwarf_value name, linkage_name, base; /* base: reference to the base entry */
	uint64_t declared_line, call_file, call_line;
	uint16_t tag;
};

/*
 * Reads the attributes of the entry at offset `at`; the caller has already read its abbreviation
 * code. Adds the number of attributes to *steps. If the entry is malformed, r->failed is set and
 * the entry is not usable.
 */
struct dwarf_entry dwarf_entry_read(struct reader *r, uint64_t at, const struct dwarf_unit *unit,
				    const struct dwarf_abbrev *abbrev, uint64_t *steps);

/* Finds the unit of the entry at this offset of .debug_info and reads the entry. False: there is no
 * entry, or it is malformed; the outputs are then undefined. *ret_unit borrows from the file. */
bool dwarf_entry_at(struct dwarf_file *file, uint64_t at, uint64_t *steps,
		    struct dwarf_unit **ret_unit, struct dwarf_entry *ret_entry) MUST_CHECK;

/* The file that entry.base.number is an offset in; NULL: no base, or its file is not available. */
struct dwarf_file *dwarf_entry_base(struct dwarf_file *file, const struct dwarf_entry *entry);
