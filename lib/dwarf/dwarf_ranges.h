// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_ranges - iterates over the address ranges of an entry with several of them: .debug_ranges
 * and .debug_rnglists. There is nothing to free. One thread.
 */
#pragma once

#include "dwarf/dwarf_value.h"

struct dwarf_ranges {
	struct reader r;
	const struct dwarf_unit *unit;
	uint64_t base;
};

/* Takes the value of DW_AT_ranges. A malformed value has no ranges. `unit` is loaded, and borrowed
 * as long as the result is used. */
struct dwarf_ranges dwarf_ranges_of(const struct dwarf_unit *unit, struct dwarf_value value);

/* The next range, [start, end), which may be empty. False: no more ranges, or malformed. */
bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *ret_start,
		       uint64_t *ret_end) MUST_CHECK;
