// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_follow - computes rows of x86-64 code without unwind information, by analysis of its
 * instructions: for C libraries that are built without unwind information (musl).
 *
 * A function is the code between two addresses that are called, referenced or in the symbol table.
 * It gets rows only if the analysis is consistent: at each return the stack pointer is where the
 * call left it, and at each instruction the stack has the same depth on every path to it. Other
 * functions get no rows.
 */
#pragma once

#include "elf/elf_sections.h"
#include "unwind/unwind_ranges_internal.h"

struct unwind_follow {
	int fd;
	const struct elf_sections *sections;
};

/*
 * Adds the consistent functions of .text as UNWIND_SOURCE_FOLLOWED, the last source. ERR_LIMIT: the
 * ranges exceed their memory_max, or a symbol table is too large.
 */
bool unwind_follow_list(const struct unwind_follow *follow, struct unwind_ranges *ranges,
			struct err *err) MUST_CHECK;
