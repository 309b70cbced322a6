// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_go - rows of Go's code, out of .gopclntab.
 *
 * It says exactly how far the stack pointer is from the return address, instruction by instruction,
 * and is there even in a stripped program. That the frame pointer is saved is read from the code:
 * the runtime's switches between stacks are passed through by it.
 */
#pragma once

#include "elf_code.h"
#include "object/elf_sections.h"
#include "unwind_program.h"
#include "unwind_ranges.h"

struct unwind_go {
	const struct elf_sections *sections;
	const struct unwind_machine *machine;
	struct elf_code *code;
};

/* Adds its functions. A file without Go has none; *ret_is_go says which it is. */
bool unwind_go_list(const struct unwind_go *go, struct unwind_ranges *ranges, bool *ret_is_go,
		    struct err *err) MUST_CHECK;
