// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_machine - what differs between x86-64 and arm64 in the walk of a stack.
 *
 * The kernel's signal frame lies at the stack pointer when the handler has returned to the code
 * that ends it. Of its registers, UNWIND_SIGNAL_WORDS words from UNWIND_SIGNAL_AT on are read.
 */
#pragma once

#include "sample.h"

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

/* By DWARF number. */
enum {
	UNWIND_FRAME_POINTER = 29,
	UNWIND_STACK_POINTER = 31,
	UNWIND_SIGNAL_AT = 312,   /* siginfo; of ucontext all before the general registers */
	UNWIND_SIGNAL_WORDS = 33, /* x0 to x30, sp, pc */
};

/* Of 48 bits; what is above may be the signature of a return address. */
static inline uint64_t unwind_address(uint64_t value)
{
	return value & ((1ULL << 48) - 1);
}

/* A leaf need not have a frame at all. */
static inline uint64_t unwind_growth(bool is_leaf)
{
	return is_leaf ? 0 : 16;
}

/* The return address of a frame that has all registers of its own. */
static inline bool unwind_link(const struct sample_registers *now, uint64_t *ret_value)
{
	*ret_value = now->general[30];
	return true;
}

static inline void unwind_restore(struct sample_registers *to, const uint64_t *saved)
{
	for (int i = 0; i < GENERAL_REGISTERS; i++)
		to->general[i] = saved[i];
	to->pc = saved[32];
}

#else

enum {
	UNWIND_FRAME_POINTER = 6,
	UNWIND_STACK_POINTER = 7,
	UNWIND_SIGNAL_AT = 40, /* of ucontext all before the registers */
	UNWIND_SIGNAL_WORDS = 17,
};

static inline uint64_t unwind_address(uint64_t value)
{
	return value;
}

/* The return address at least is on the stack. */
static inline uint64_t unwind_growth(bool is_leaf)
{
	(void)is_leaf;
	return 8;
}

/* There is none: a return address is never in a register. */
static inline bool unwind_link(const struct sample_registers *now, uint64_t *ret_value)
{
	(void)now;
	*ret_value = 0;
	return false;
}

/* r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
static inline void unwind_restore(struct sample_registers *to, const uint64_t *saved)
{
	uint64_t *general = to->general;

	for (int i = 0; i < 8; i++)
		general[8 + i] = saved[i];
	general[5] = saved[8];
	general[4] = saved[9];
	general[6] = saved[10];
	general[3] = saved[11];
	general[1] = saved[12];
	general[0] = saved[13];
	general[2] = saved[14];
	general[7] = saved[15];
	to->pc = saved[16];
}

#endif
