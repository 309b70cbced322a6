// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_fixed - ranges of code that one rule holds in, of a few that are known beforehand.
 */
#pragma once

#include "elf_code.h"
#include "object/elf_sections.h"
#include "unwind_program.h"
#include "unwind_ranges.h"

enum unwind_fixed_rule {
	UNWIND_FIXED_SIGNAL,        /* a signal's frame */
	UNWIND_FIXED_FRAME_POINTER, /* code that keeps it */
	UNWIND_FIXED_ENTERED,       /* nothing has been saved since the call */
	UNWIND_FIXED_ROOT,          /* nobody has called this */
	UNWIND_FIXED_PLT,           /* lazy PLT stubs: something is pushed for the rest of each */
	UNWIND_FIXED_PLT_MARKED,    /* the same with endbr64 and bnd first */
	UNWIND_FIXED_COUNT
};

/* Tells of signals and of what is filled in, from now on. */
void unwind_fixed_init(struct unwind_ranges *ranges, const struct unwind_machine *machine);

/* The range to be added. */
struct unwind_range unwind_fixed(enum unwind_range_source source, enum unwind_fixed_rule rule);

struct unwind_fixed_search {
	const struct elf_sections *sections;
	const struct unwind_machine *machine;
	struct elf_code *code;
	bool wants_signal; /* look for the return from signals */
};

/* After unwind_fixed_init(). */
void unwind_fixed_list(const struct unwind_fixed_search *search, struct unwind_ranges *ranges);
