// SPDX-License-Identifier: Apache-2.0
/*
 * x86_instruction - decodes the length, the opcode and the operands of an x86-64 instruction.
 *
 * It is not a disassembler: it decodes what an analysis of jumps and of the stack pointer needs
 * (unwind/unwind_follow_internal.h). Instructions that compilers do not write are unknown, and the
 * analysis ends there. Cannot fail otherwise. Any thread.
 */
#pragma once

#include "base/str.h"

struct x86_instruction {
	uint8_t len; /* 0: unknown, or truncated */
	uint8_t map; /* opcode map: 0, or 1 to 3 for 0f, 0f 38, 0f 3a */
	uint8_t opcode;
	bool is_vector; /* VEX or EVEX */
	bool has_modrm;
	uint8_t mode, reg, rm; /* fields of ModRM, with the bits of REX, VEX or EVEX */
	uint8_t base;          /* base register of an address; X86_NO_BASE: none, or indexed */
	int32_t displacement;
	int32_t immediate; /* sign-extended; for a jump: distance from the instruction's end */
};

enum { X86_NO_BASE = 0xff, X86_RSP = 4, X86_RBP = 5, X86_REGISTER = 3 /* a mode of ModRM */ };

/* Decodes the instruction at the beginning of code. */
struct x86_instruction x86_instruction_read(str code);
