// SPDX-License-Identifier: Apache-2.0
/*
 * x86_instruction - one instruction of x86-64: how long it is, and which.
 *
 * Not a disassembler: for following what code does to the stack. What no compiler writes is not
 * known, and ends whoever follows.
 */
#pragma once

#include "base/str.h"

struct x86_instruction {
	uint8_t len; /* 0: not known, or cut off */
	uint8_t map; /* of opcodes: 0, or 1 to 3 for 0f, 0f 38, 0f 3a */
	uint8_t opcode;
	bool is_vector; /* VEX or EVEX */
	bool has_modrm;
	uint8_t mode, reg, rm; /* of ModRM, with the bits that prefixes add */
	uint8_t base; /* of an address: a register's number; X86_NO_BASE: none, or indexed */
	int32_t displacement;
	int32_t immediate; /* sign-extended; a jump's is its distance from the instruction's end */
};

enum { X86_NO_BASE = 0xff, X86_RSP = 4, X86_RBP = 5, X86_REGISTER = 3 /* a mode of ModRM */ };

struct x86_instruction x86_instruction_read(str code);
