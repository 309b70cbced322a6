// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_ranges - the addresses that an entry covers, when they are several pieces: .debug_ranges
 * and .debug_rnglists.
 */
#pragma once

#include "dwarf_value.h"

struct dwarf_ranges {
	struct reader r;
	const struct dwarf_unit *unit;
	uint64_t base;
};

/* The value of DW_AT_ranges. Nothing is in what makes no sense. */
struct dwarf_ranges dwarf_ranges_of(const struct dwarf_unit *unit, struct dwarf_value value);

/* The next piece, [start, end); empty ones are told, too. False: that was all. */
bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *ret_start,
		       uint64_t *ret_end) MUST_CHECK;
