// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_follow - rows of x86-64 code that nothing describes, by following what it does to the
 * stack: for C libraries that are built without unwind information (musl).
 *
 * A function is what lies between two addresses that something calls or names. It has rows only if
 * all of it fits together: its stack pointer is where the call left it at each return, and each
 * instruction finds it at the same depth from wherever it is reached. Others have none.
 */
#pragma once

#include "object/elf_sections.h"
#include "unwind_ranges.h"

struct unwind_follow {
	int fd;
	const struct elf_sections *sections;
};

/* Adds what fits together of .text, for where no better source speaks. ERR_LIMIT: too much. */
bool unwind_follow_list(const struct unwind_follow *follow, struct unwind_ranges *ranges,
			struct err *err) MUST_CHECK;
