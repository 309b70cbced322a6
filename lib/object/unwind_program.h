// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_program - runs the instructions that a function's unwind information is told in.
 *
 * Of all registers three are followed beside the canonical frame address: where the frame pointer
 * and the return address were saved, and the stack pointer, which is hardly ever anywhere else.
 * What is done is bounded by the bytes that tell it: each is read once.
 */
#pragma once

#include "dwarf_pointer.h"
#include "unwind_rows.h"
#include "unwind_state.h"

/* What is common to many functions: a CIE. */
struct unwind_cie {
	uint64_t at; /* where it is in the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding; /* of addresses */
	bool has_augmentation, is_signal;
	bool is_readable; /* it is known what its functions' entries look like */
	bool is_known;    /* and its instructions make sense */
	struct unwind_state initial;
};

struct unwind_program {
	const struct unwind_machine *machine;
	const struct dwarf_frame_section *section;
	struct unwind_cie *cie;
	struct unwind_state *remembered; /* room for UNWIND_REMEMBERED_MAX */
	str instructions;
	uint32_t start, end; /* of its code, from the rows' base */
};

/* Runs the common part, for cie->initial. False: it makes no sense. */
bool unwind_program_cie(const struct unwind_program *program) MUST_CHECK;

/* Adds a function's rows. What makes no sense becomes rows that nobody supports. */
void unwind_program_run(const struct unwind_program *program, struct unwind_rows *rows);
