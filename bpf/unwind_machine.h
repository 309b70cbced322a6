// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_machine - what differs between x86-64 and arm64 in the walk of a stack.
 *
 * The kernel's signal frame lies at the stack pointer when the handler has returned to the code
 * that ends it. Of its registers, UNWIND_SIGNAL_WORDS words from UNWIND_SIGNAL_AT on are read.
 */
#pragma once

#include "sample.h"

/* What a compiler knows of a value it forgets here: bounds stay, and loads are not gathered. */
#define UNWIND_OPAQUE(value) __asm__ volatile("" : "+r"(value))

/* 1 for 0, without a branch, of which a verifier would follow both ways. */
static inline uint64_t unwind_is_zero(uint64_t value)
{
	uint64_t less = value - 1;

	/* A compiler that knew one from the other would see through it. */
	UNWIND_OPAQUE(less);
	return (~value & less) >> 63;
}

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

/* Whether these 8 bytes end with a call: bl, or blr of any register. */
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

/*
 * Whether these 8 bytes end with a call: of a place (0xe8), of a register or of what memory says
 * (0xff with 2 as its operation, in all the lengths that its addressing may have).
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

/* Where the stack begins that came with a record: at its pointer, or with the first page that is.
 */
static inline uint64_t unwind_stack_from(const struct sample_record *record)
{
	uint64_t from = sample_registers(record)->general[UNWIND_STACK_POINTER] & ~7ULL;
	uint64_t skipped = record->flags >> SAMPLE_SKIPPED_AT;

	return skipped ? (from / SAMPLE_STACK_PIECE + skipped) * SAMPLE_STACK_PIECE : from;
}
