// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_machine - what differs between x86-64 and arm64 in the walk of a stack.
 */
#pragma once

#include <stdint.h>

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

/* By DWARF number. */
enum { UNWIND_FRAME_POINTER = 29, UNWIND_LINK = 30, UNWIND_STACK_POINTER = 31 };

/* Of 48 bits; what is above may be the signature of a return address. */
static inline uint64_t unwind_address(uint64_t value)
{
	return value & ((1ULL << 48) - 1);
}

#else

enum { UNWIND_FRAME_POINTER = 6, UNWIND_STACK_POINTER = 7 };

static inline uint64_t unwind_address(uint64_t value)
{
	return value;
}

#endif
