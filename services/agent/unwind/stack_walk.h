// SPDX-License-Identifier: Apache-2.0
/*
 * stack_walk - walks shipped stacks in the agent.
 *
 * The BPF program knows only mappings that the agent has written to its maps, and a process that
 * lives for a millisecond is gone before that. Samples of such a process come with their registers
 * and the top of their stack. This module runs the same walk (bpf/unwind.h) over these bytes, with
 * the mappings as they were at the tick and the tables that are loaded now. A zeroed struct
 * stack_walk is valid and needs no release. Cannot fail. Agent thread only.
 *
 * The frames that BPF found by frame pointers are kept where they reach further than this walk:
 * where no table is loaded, where the stack is longer than the shipped bytes, or where the caller
 * of generated code would have to be guessed.
 */
#pragma once

#include "bpf/sample.h"

/* The pages of tables and lists by their numbers, as BPF programs see them. */
struct unwind_space {
	/* Returns the bytes of a page, valid until the end of the round. NULL: there is no such
	 * page. */
	const uint8_t *(*page)(void *self, uint64_t number);
	void *self;
};

struct stack_walk {
	uint64_t walked, kept; /* cumulative: stacks replaced by this walk, and kept as BPF's */
	uint64_t missing; /* of the last walk: the first address whose table is not loaded, or 0 */
	/* private */
	struct sample_record made;
};

/* The complete, sorted list of mappings of the process. */
struct stack_walk_list {
	uint64_t place; /* as in struct unwind_process */
	uint32_t count;
};

/*
 * Walks the shipped stack of `record`, whose stack_bytes must not be 0. Returns a record with the
 * user frames of this walk, in `walk` and valid until the next call. The returned record has no
 * registers and no stack, although its stack_bytes keeps the value. If BPF's frames are better,
 * returns `record` itself.
 */
const struct sample_record *stack_walk_again(struct stack_walk *walk,
					     const struct sample_record *record,
					     struct stack_walk_list list,
					     struct unwind_space space);
