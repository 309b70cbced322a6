// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_state - where the caller's registers are at an instruction, and the unwind rule that
 * follows from that. Values only; any thread.
 */
#pragma once

#include "dwarf/dwarf_expression.h"
#include "unwind/unwind_format.h"

/* The DWARF numbers of the registers that have a role in unwinding. */
struct unwind_machine {
	uint64_t frame_pointer, stack_pointer, return_address;
	bool has_link_register; /* the return address may be in a register (arm64) */
};

/* Where the caller's value of a register is. */
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

/*
 * The rule for this state. A place that a rule cannot express becomes UNWIND_SAVED_UNSUPPORTED; if
 * the CFA cannot be expressed, the rule is UNWIND_CFA_UNSUPPORTED.
 */
struct unwind_rule unwind_state_rule(const struct unwind_state *state,
				     const struct unwind_machine *machine);
