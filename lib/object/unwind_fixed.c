// SPDX-License-Identifier: Apache-2.0
#include "unwind_fixed.h"

struct fixed {
	struct unwind_rule rules[UNWIND_FIXED_COUNT];
};

static void rows_add(void *self, const struct unwind_stretch *stretch, struct unwind_rows *rows)
{
	const struct fixed *fixed = self;

	unwind_rows_add(rows, stretch->start, &fixed->rules[stretch->common]);
}

/* As a call leaves it: on the stack, or in the link register. */
static struct unwind_rule entered(const struct unwind_machine *machine)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_REGISTER,
				    .cfa_register = (uint8_t)machine->stack_pointer };

	if (machine->has_link_register)
		return rule;
	rule.cfa_offset = 8;
	rule.return_address = UNWIND_SAVED_AT_CFA;
	rule.return_address_offset = -8;
	return rule;
}

void unwind_fixed_init(struct unwind_stretches *stretches, const struct unwind_machine *machine)
{
	struct fixed *fixed = arena_new(stretches->arena, struct fixed);
	struct unwind_rule *rules = fixed->rules;

	rules[UNWIND_FIXED_SIGNAL].cfa = UNWIND_CFA_SIGNAL;
	rules[UNWIND_FIXED_FRAME_POINTER].cfa = UNWIND_CFA_FRAME_POINTER;
	rules[UNWIND_FIXED_ENTERED] = entered(machine);
	rules[UNWIND_FIXED_ROOT] = entered(machine);
	rules[UNWIND_FIXED_ROOT].return_address = UNWIND_SAVED_UNDEFINED;
	rules[UNWIND_FIXED_ROOT].return_address_offset = 0;
	rules[UNWIND_FIXED_PLT] = entered(machine);
	rules[UNWIND_FIXED_PLT_MARKED] = entered(machine);
	if (!machine->has_link_register) {
		rules[UNWIND_FIXED_PLT].cfa = rules[UNWIND_FIXED_PLT_MARKED].cfa = UNWIND_CFA_PLT;
		rules[UNWIND_FIXED_PLT].cfa_register = rules[UNWIND_FIXED_PLT_MARKED].cfa_register =
			0;
		rules[UNWIND_FIXED_PLT].cfa_offset = 11;
		rules[UNWIND_FIXED_PLT_MARKED].cfa_offset = 9;
	}
	stretches->tellers[UNWIND_SOURCE_SIGNAL] = (struct unwind_teller){ rows_add, fixed };
	stretches->tellers[UNWIND_SOURCE_FILL] = (struct unwind_teller){ rows_add, fixed };
}

struct unwind_stretch unwind_fixed(enum unwind_source source, enum unwind_fixed_rule rule)
{
	return (struct unwind_stretch){ .source = source, .common = (uint32_t)rule };
}
