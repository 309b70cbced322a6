// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_machine - the differences between x86-64 and arm64 in a stack walk.
 *
 * When a signal handler has returned to the code that ends it, the kernel's signal frame lies at
 * the stack pointer. The saved registers are UNWIND_SIGNAL_WORDS words from UNWIND_SIGNAL_AT on.
 */
#pragma once

#include "sample.h"

/* Hides a value from the compiler, so that it keeps bounds checks and does not merge loads. */
#define UNWIND_OPAQUE(value) __asm__ volatile("" : "+r"(value))

/* 1 if value is 0, else 0. Without a branch, because the verifier would follow both ways. */
static inline uint64_t unwind_is_zero(uint64_t value)
{
	uint64_t less = value - 1;

	/* Else the compiler would recognize the pattern and make a branch. */
	UNWIND_OPAQUE(less);
	return (~value & less) >> 63;
}

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

/* By DWARF number. */
enum {
	UNWIND_FRAME_POINTER = 29,
	UNWIND_STACK_POINTER = 31,
	UNWIND_SIGNAL_AT = 312,   /* after siginfo and the part of ucontext before the registers */
	UNWIND_SIGNAL_WORDS = 33, /* x0 to x30, sp, pc */
};

/* The low 48 bits: the upper bits may hold the signature of a return address (PAC). */
static inline uint64_t unwind_address(uint64_t value)
{
	return value & ((1ULL << 48) - 1);
}

/* The least size of a frame. A leaf may have no frame. */
static inline uint64_t unwind_growth(bool is_leaf)
{
	return is_leaf ? 0 : 16;
}

/* The return address in the link register, if the frame has all its registers. */
static inline bool unwind_link(const struct sample_registers *now, uint64_t *ret_value)
{
	*ret_value = now->general[30];
	return true;
}

/* True if these 8 bytes end with a call: bl, or blr of any register. */
static inline bool unwind_is_call(uint64_t before)
{
	uint64_t code = before >> 32;

	return unwind_is_zero((code & 0xfc000000) ^ 0x94000000) |
	       unwind_is_zero((code & 0xfffffc1f) ^ 0xd63f0000);
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
	UNWIND_SIGNAL_AT = 40, /* after the part of ucontext before the registers */
	UNWIND_SIGNAL_WORDS = 17,
};

static inline uint64_t unwind_address(uint64_t value)
{
	return value;
}

/* The least size of a frame: the return address. */
static inline uint64_t unwind_growth(bool is_leaf)
{
	(void)is_leaf;
	return 8;
}

/* Always false: on x86-64 there is no link register. */
static inline bool unwind_link(const struct sample_registers *now, uint64_t *ret_value)
{
	(void)now;
	*ret_value = 0;
	return false;
}

/*
 * True if these 8 bytes end with a call: direct (0xe8), or indirect by register or memory (0xff /2,
 * with each possible length of its operand).
 */
static inline bool unwind_is_call(uint64_t before)
{
	return unwind_is_zero((before >> 24 & 0xff) ^ 0xe8) |
	       unwind_is_zero((before >> 48 & 0xf8ff) ^ 0xd0ff) |
	       unwind_is_zero((before >> 48 & 0xf8ff) ^ 0x10ff) |
	       unwind_is_zero((before >> 40 & 0xf8ff) ^ 0x50ff) |
	       unwind_is_zero((before >> 32 & 0xffff) ^ 0x54ff) |
	       unwind_is_zero((before >> 16 & 0xf8ff) ^ 0x90ff) |
	       unwind_is_zero((before >> 16 & 0xffff) ^ 0x15ff) |
	       unwind_is_zero((before >> 8 & 0xffff) ^ 0x94ff);
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

/* The address of the first byte of a shipped stack: the stack pointer, or the first readable page
 * above it. */
static inline uint64_t unwind_stack_from(const struct sample_record *record)
{
	uint64_t from = sample_registers(record)->general[UNWIND_STACK_POINTER] & ~7ULL;
	uint64_t skipped = record->flags >> SAMPLE_SKIPPED_AT;

	return skipped ? (from / SAMPLE_STACK_PIECE + skipped) * SAMPLE_STACK_PIECE : from;
}
