// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_follow - computes unwind rows for x86-64 code that has no unwind information, such as the
 * C library musl.
 *
 * It follows each path through a function's instructions and records the depth of the stack. A
 * function begins at an address that an instruction calls or references, or that a symbol table
 * has, and ends at the next such address. It gets rows only if the analysis is consistent: each
 * return finds the stack pointer where the call left it, and each instruction has the same depth on
 * every path to it. Other functions get no rows. One thread.
 */
#pragma once

#include "elf/elf_sections.h"
#include "unwind/unwind_ranges_internal.h"

struct unwind_follow {
	int fd;
	const struct elf_sections *sections;
};

/*
 * Adds the consistent functions of .text to `ranges`, as UNWIND_SOURCE_FOLLOWED, the source of the
 * lowest priority. Only for x86-64: the caller must not call it for another machine. ERR_LIMIT: the
 * arena of `ranges` exceeds its memory_max, or a symbol table is larger than ELF_SYMBOLS_BYTES_MAX;
 * other codes: a section cannot be read. After a failure `ranges` may have some of the functions;
 * the caller abandons the table.
 */
bool unwind_follow_list(const struct unwind_follow *follow, struct unwind_ranges *ranges,
			struct err *err) MUST_CHECK;
