/*
 * unwind_program - runs the instructions that a function's unwind information is told in.
 *
 * Of all registers three are followed beside the canonical frame address: where the frame pointer
 * and the return address were saved, and the stack pointer, which is hardly ever anywhere else.
 * What is done is bounded by the bytes that tell it: each is read once.
 */
#pragma once

#include "unwind_expression.h"
#include "unwind_pointer.h"
#include "unwind_rows.h"

/* What a machine's registers are for, by their DWARF numbers. */
struct unwind_machine {
	uint64_t frame_pointer, stack_pointer, return_address;
	bool has_link_register; /* the return address may still be in a register */
};

/* Where a register of the caller is. */
struct unwind_place {
	enum unwind_place_kind {
		UNWIND_PLACE_SAME, /* in the register itself */
		UNWIND_PLACE_AT_CFA,
		UNWIND_PLACE_AT_TERM, /* *(register_number + offset) */
		UNWIND_PLACE_REGISTER,
		UNWIND_PLACE_UNDEFINED,
		UNWIND_PLACE_UNKNOWN,
	} kind;
	uint64_t register_number;
	int64_t offset;
};

struct unwind_state {
	struct unwind_term cfa;
	struct unwind_place frame_pointer, return_address, stack_pointer;
};

/* What is common to many functions: a CIE. */
struct unwind_common {
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
	const struct unwind_section *section;
	struct unwind_common *common;
	struct unwind_state *remembered; /* room for UNWIND_REMEMBERED_MAX */
	str instructions;
	uint32_t start, end; /* of its code, from the rows' base */
};

/* Runs the common part, for common->initial. False: it makes no sense. */
bool unwind_program_common(const struct unwind_program *program) MUST_CHECK;

/* Adds a function's rows. What makes no sense becomes rows that nobody supports. */
void unwind_program_run(const struct unwind_program *program, struct unwind_rows *rows);
