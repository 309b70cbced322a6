// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_state_internal.h"

static bool fits(int64_t value, int64_t limit)
{
	return value >= -limit - 1 && value <= limit;
}

static void place_to_rule(const struct unwind_place *place, const struct unwind_state *state,
			  const struct unwind_machine *machine, uint8_t *ret_saved,
			  int16_t *ret_offset)
{
	int64_t offset = place->offset;

	*ret_saved = UNWIND_SAVED_UNSUPPORTED;
	switch (place->kind) {
	case UNWIND_PLACE_SAME:
		*ret_saved = UNWIND_SAVED_SAME;
		return;
	case UNWIND_PLACE_UNDEFINED:
		*ret_saved = UNWIND_SAVED_UNDEFINED;
		return;
	case UNWIND_PLACE_REGISTER:
		if (place->register_number > UINT8_MAX)
			return;
		*ret_saved = UNWIND_SAVED_REGISTER;
		*ret_offset = (int16_t)place->register_number;
		return;
	case UNWIND_PLACE_AT_CFA:
		break;
	case UNWIND_PLACE_AT_TERM:
		/* Relative to the CFA, if that is relative to the same register. */
		if (state->cfa.kind == DWARF_TERM_REGISTER &&
		    state->cfa.register_number == place->register_number) {
			if (__builtin_sub_overflow(offset, state->cfa.offset, &offset))
				return;
			break;
		}
		if (place->register_number != machine->frame_pointer || !fits(offset, INT16_MAX))
			return;
		*ret_saved = UNWIND_SAVED_AT_FRAME_POINTER;
		*ret_offset = (int16_t)offset;
		return;
	case UNWIND_PLACE_UNKNOWN:
		return;
	}
	if (!fits(offset, INT16_MAX))
		return;
	*ret_saved = UNWIND_SAVED_AT_CFA;
	*ret_offset = (int16_t)offset;
}

static struct unwind_rule cfa_to_rule(const struct dwarf_term *cfa)
{
	static const uint8_t kinds[] = {
		[DWARF_TERM_UNKNOWN] = UNWIND_CFA_UNSUPPORTED,
		[DWARF_TERM_NUMBER] = UNWIND_CFA_UNSUPPORTED,
		[DWARF_TERM_REGISTER] = UNWIND_CFA_REGISTER,
		[DWARF_TERM_DEREF] = UNWIND_CFA_DEREF,
		[DWARF_TERM_PLT] = UNWIND_CFA_PLT,
	};

	if (cfa->register_number > UINT8_MAX || !fits(cfa->offset, INT32_MAX) ||
	    !fits(cfa->second, INT32_MAX))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED };
	return (struct unwind_rule){ .cfa = kinds[cfa->kind],
				     .cfa_register = (uint8_t)cfa->register_number,
				     .cfa_offset = (int32_t)cfa->offset,
				     .cfa_second = (int32_t)cfa->second };
}

/*
 * The walk uses the CFA as the caller's stack pointer. If the stack pointer is in another register,
 * as in longjmp() before its jump, that register can replace the CFA, unless another place depends
 * on the CFA.
 */
static struct unwind_rule stack_pointer_rule(struct unwind_rule rule,
					     const struct unwind_place *place)
{
	bool is_needed = rule.frame_pointer == UNWIND_SAVED_AT_CFA ||
			 rule.return_address == UNWIND_SAVED_AT_CFA;

	if (place->kind == UNWIND_PLACE_SAME)
		return rule;
	if (place->kind != UNWIND_PLACE_REGISTER || place->register_number > UINT8_MAX || is_needed)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED };
	rule.cfa = UNWIND_CFA_REGISTER;
	rule.cfa_register = (uint8_t)place->register_number;
	rule.cfa_offset = rule.cfa_second = 0;
	return rule;
}

struct unwind_rule unwind_state_rule(const struct unwind_state *state,
				     const struct unwind_machine *machine)
{
	struct unwind_rule rule = cfa_to_rule(&state->cfa);

	if (rule.cfa == UNWIND_CFA_UNSUPPORTED)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED };
	place_to_rule(&state->frame_pointer, state, machine, &rule.frame_pointer,
		      &rule.frame_pointer_offset);
	place_to_rule(&state->return_address, state, machine, &rule.return_address,
		      &rule.return_address_offset);
	if (rule.return_address == UNWIND_SAVED_SAME && !machine->has_link_register)
		rule.return_address = UNWIND_SAVED_UNSUPPORTED;
	return stack_pointer_rule(rule, &state->stack_pointer);
}
