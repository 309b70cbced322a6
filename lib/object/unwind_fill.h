// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_fill - rows for code of which its own unwind information says nothing, and of which it is
 * known what it does: PLT stubs of linkers that describe none, the return from signals of C
 * libraries that do not, the program's first instructions.
 */
#pragma once

#include "object/elf_sections.h"
#include "unwind_code.h"
#include "unwind_program.h"
#include "unwind_stretches.h"

struct unwind_fill {
	const struct elf_sections *sections;
	const struct unwind_machine *machine;
	struct unwind_code *code;
	bool wants_signal; /* look for the return from signals */
};

/* After unwind_fixed_init(). */
void unwind_fill_list(const struct unwind_fill *fill, struct unwind_stretches *stretches);
