// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_entry - what we ask of an entry of DWARF, and what it is based on.
 */
#pragma once

#include "dwarf_value.h"

struct dwarf_entry {
	uint64_t at; /* where it stands in .debug_info */
	struct dwarf_value low, high, ranges;
	struct dwarf_value name, linkage_name, base; /* base: of the entry that says the rest */
	uint64_t declared_line, call_file, call_line;
	uint16_t tag;
};

/* The entry at this place, whose code was just read. Adds its attributes to *steps. */
struct dwarf_entry dwarf_entry_read(struct reader *r, uint64_t at, const struct dwarf_unit *unit,
				    const struct dwarf_abbrev *abbrev, uint64_t *steps);

/* False: there is none at that place. */
bool dwarf_entry_at(struct dwarf_file *file, uint64_t at, uint64_t *steps,
		    struct dwarf_unit **ret_unit, struct dwarf_entry *ret_entry) MUST_CHECK;

/* The file that entry.base.number is a place of; NULL: it has no base, or none at hand. */
struct dwarf_file *dwarf_entry_base(struct dwarf_file *file, const struct dwarf_entry *entry);
