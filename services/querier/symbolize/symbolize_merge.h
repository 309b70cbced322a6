// SPDX-License-Identifier: Apache-2.0
/*
 * symbolize_merge - copies a merge with symbols in place of addresses: each native frame becomes
 * the function lines at its address.
 *
 * Pure: any thread. Stacks that become equal are added up. No sum changes: the total, and the sum
 * below each prefix of a stack, stay the same. A frame without symbols stays an address, and its
 * reason is kept in the merge.
 */
#pragma once

#include "querier/merge/merge.h"
#include "wire/symbolize.h"

struct function_symbol {
	str function;    /* full, demangled */
	str system_name; /* the linker's symbol */
	str file;        /* source file; may be empty */
	uint32_t start_line;
};

struct function_line {
	const struct function_symbol *function;
	uint32_t line;
};

/* The symbols of one address. */
struct address_lines {
	const struct function_line
		*lines; /* innermost first: the others are its inlining callers */
	uint32_t len;
	enum name_reason reason; /* NAME_KNOWN if and only if there are lines */
};

/* True if the frame is an address of a binary and has no function; kernel frames never. */
bool frame_needs_symbol(const struct frame *frame);

struct symbolize_options {
	const struct address_lines *resolved; /* by frame of `from`; set if it needs a symbol */
	/* Keep addresses and lines. If false, a frame is a function of a build, whatever its line.
	 * Most reports show no more, and there are far fewer stacks. */
	bool keep_addresses;
};

/*
 * Writes the copy to `into`, which must be empty after merge_init() with the type and the groups of
 * `from`. `into` borrows texts from `from` and from `resolved`, which must outlive it. ERR_LIMIT:
 * more memory than `into` may use, or a sum beyond 64 bits; the caller drops `into`.
 */
bool symbolize_merge(struct merge *into, const struct merge *from,
		     const struct symbolize_options *options, struct err *err) MUST_CHECK;
