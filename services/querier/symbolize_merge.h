// SPDX-License-Identifier: Apache-2.0
/*
 * name - a merge whose addresses have got names: each native frame becomes the lines it stands in.
 *
 * Pure: a merge and what is known of its frames go in, another merge comes out. Stacks that become
 * equal are added up, and nothing else happens to a sum: before as after, the total and the sum
 * below each prefix of a stack are the same. A frame that nobody knows stays an address, and the
 * reason stays beside it.
 */
#pragma once

#include "merge.h"
#include "profile/symbolize.h"

struct function_symbol {
	str function;    /* full */
	str system_name; /* as the linker knows it */
	str file;
	uint32_t start_line;
};

struct function_line {
	const struct function_symbol *function;
	uint32_t line;
};

/* Of one address. */
struct address_lines {
	const struct function_line *lines; /* innermost first */
	uint32_t len;
	enum name_reason reason; /* NAME_KNOWN if and only if there are lines */
};

/* Whether the frame is an address of a binary, without a name. */
bool frame_needs_symbol(const struct frame *frame);

struct symbolize_options {
	const struct address_lines *resolved; /* by frame of the merge; of those that are wanted */
	/* Keep addresses, lines and build ids. Else a frame is a function, wherever in it and in
	 * whatever build it was, which is all that most reports show, and far fewer stacks. */
	bool keep_addresses;
};

/*
 * `into`: of merge_init(), for the same type and groups, empty. It borrows texts from `from` and
 * from the names. ERR_LIMIT: as merge_add_row().
 */
bool symbolize_merge(struct merge *into, const struct merge *from,
		     const struct symbolize_options *options, struct err *err) MUST_CHECK;
