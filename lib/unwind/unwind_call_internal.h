// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_call - rows at the calls of functions that keep their CFA in a register.
 *
 * glibc's _dl_runtime_resolve() aligns its stack and finds its frame by rbx. In a caller the walk
 * knows only the stack pointer and the frame pointer. But the function that is called there,
 * _dl_fixup(), saves rbx at a fixed distance below its caller's stack pointer. So at this call the
 * CFA is *(rsp + distance) + offset, which a rule can express.
 *
 * The new row covers the bytes of the call except the first one. A walk looks up the last byte
 * before a return address. A leaf is at the first byte of an instruction, where the register itself
 * is known. x86-64 only. One thread.
 */
#pragma once

#include "elf/elf_code.h"
#include "unwind/unwind_ranges_internal.h"

struct unwind_calls {
	const struct unwind_machine *machine;
	struct elf_code *code;
};

/*
 * Adds the rows to `rows`, which unwind_ranges_rows() has made from these ranges. Cannot fail:
 * beyond UNWIND_CALLS_MAX and UNWIND_CALL_CODE_MAX, and where the called function does not save the
 * register at one place, the rows stay as they are.
 */
void unwind_calls_add(const struct unwind_calls *calls, const struct unwind_ranges *ranges,
		      struct unwind_rows *rows);
