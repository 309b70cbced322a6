// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_state - where a caller's registers are at some instruction, and the rule that says so.
 */
#pragma once

#include "dwarf_expression.h"
#include "unwind_format.h"

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
	struct dwarf_term cfa;
	struct unwind_place frame_pointer, return_address, stack_pointer;
};

/* Places that a rule has no words for become unsupported; without a CFA all of it is. */
struct unwind_rule unwind_state_rule(const struct unwind_state *state,
				     const struct unwind_machine *machine);
