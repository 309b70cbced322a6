// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_program - runs call frame instructions (DW_CFA_*) and produces unwind rows.
 *
 * It tracks the canonical frame address (CFA) and three registers: the frame pointer, the return
 * address and the stack pointer. The work is bounded by the length of the instructions: each byte
 * is read once. One thread.
 */
#pragma once

#include "dwarf/dwarf_pointer.h"
#include "unwind/unwind_rows_internal.h"
#include "unwind/unwind_state_internal.h"

/* A CIE: the data that many functions share. */
struct unwind_cie {
	uint64_t at; /* offset in the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding; /* of addresses */
	bool has_augmentation, is_signal;
	bool is_readable; /* the layout of its FDEs is known */
	bool is_known;    /* and its instructions are valid */
	struct unwind_state initial;
};

struct unwind_program {
	const struct unwind_machine *machine;
	const struct dwarf_frame_section *section;
	struct unwind_cie *cie;
	struct unwind_state *remembered; /* room for UNWIND_REMEMBERED_MAX */
	str instructions;
	uint32_t start, end; /* of the function, from the rows' base */
};

/* Runs the instructions of a CIE and sets cie->initial. False: they are malformed. */
bool unwind_program_cie(const struct unwind_program *program) MUST_CHECK;

/* Adds the rows of a function. Cannot fail: from a malformed instruction on, the rows have the rule
 * UNWIND_RULE_UNSUPPORTED. */
void unwind_program_run(const struct unwind_program *program, struct unwind_rows *rows);
