// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_go - adds the rows of Go code, from .gopclntab.
 *
 * .gopclntab has the distance between the stack pointer and the return address for each
 * instruction, and a stripped program still has it. Whether a function saves the frame pointer is
 * read from its code: the walk needs the frame pointer where the runtime switches stacks. One
 * thread.
 */
#pragma once

#include "elf/elf_code.h"
#include "elf/elf_sections.h"
#include "unwind/unwind_program_internal.h"
#include "unwind/unwind_ranges_internal.h"

struct unwind_go {
	const struct elf_sections *sections;
	const struct unwind_machine *machine;
	struct elf_code *code;
};

/*
 * Adds the functions of a Go program. For another file nothing is added and *ret_is_go is false.
 * ERR_LIMIT: the ranges exceed their memory_max, or a section is larger than GO_TABLE_MAX.
 */
bool unwind_go_list(const struct unwind_go *go, struct unwind_ranges *ranges, bool *ret_is_go,
		    struct err *err) MUST_CHECK;
