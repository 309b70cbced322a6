// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_fixed - address ranges with one predefined rule: code that has no unwind information, but
 * whose effect on the stack is known.
 *
 * unwind_fixed_list() finds PLT stubs of linkers that do not describe them, the return from signals
 * in C libraries that do not describe it, and the first instructions of the program. Other sources
 * use the rules as well (unwind_go.c). No function fails. One thread.
 */
#pragma once

#include "elf/elf_code.h"
#include "elf/elf_sections.h"
#include "unwind/unwind_program_internal.h"
#include "unwind/unwind_ranges_internal.h"

enum unwind_fixed_rule {
	UNWIND_FIXED_SIGNAL,        /* a signal frame */
	UNWIND_FIXED_FRAME_POINTER, /* code that keeps the frame pointer */
	UNWIND_FIXED_ENTERED,       /* the stack is as the call left it */
	UNWIND_FIXED_ROOT,          /* no caller: the root of the stack */
	UNWIND_FIXED_PLT,           /* lazy PLT stubs: each pushes one word */
	UNWIND_FIXED_PLT_MARKED,    /* lazy PLT stubs that begin with endbr64 */
	UNWIND_FIXED_COUNT
};

/* Registers the row sources UNWIND_SOURCE_SIGNAL and UNWIND_SOURCE_FIXED. */
void unwind_fixed_init(struct unwind_ranges *ranges, const struct unwind_machine *machine);

/* A range for unwind_ranges_add(). */
struct unwind_range unwind_fixed(enum unwind_range_source source, enum unwind_fixed_rule rule);

struct unwind_fixed_search {
	const struct elf_sections *sections;
	const struct unwind_machine *machine;
	struct elf_code *code;
	bool wants_signal; /* search the code for the return from signals */
};

/* Adds the ranges that it finds. Call unwind_fixed_init() before. */
void unwind_fixed_list(const struct unwind_fixed_search *search, struct unwind_ranges *ranges);
