// SPDX-License-Identifier: Apache-2.0
/*
 * stack_walk - stacks that travelled, walked with what the agent knows of their process by then.
 *
 * A program in the kernel knows the mappings that were written for it, and a process that lives for
 * a millisecond is gone before that. Of its samples come registers and the top of the stack, and
 * here is the same walk (bpf/unwind.h) over those bytes, the mappings as they were at the tick, and
 * the tables that are loaded by now. Pure, but for the pages.
 *
 * What BPF has found by frame pointers meanwhile stays where that is further than we get: where no
 * table is loaded, the stack is longer than what travelled, or callers of generated code would have
 * to be guessed.
 */
#pragma once

#include "sample.h"

/* The pages of tables and lists by their numbers, as BPF programs see them. */
struct unwind_space {
	/* NULL: nobody's. Good until the round's end. */
	const uint8_t *(*page)(void *self, uint64_t number);
	void *self;
};

struct stack_walk {
	uint64_t walked, kept; /* cumulative: by us, and those that are as BPF left them */
	uint64_t missing; /* of the last walk: the first address whose table is not loaded, or 0 */
	/* private */
	struct sample_record made;
};

/* Where the mappings of its process are, all of them, sorted. */
struct stack_walk_list {
	uint64_t place; /* as in struct unwind_process */
	uint32_t count;
};

/*
 * The record with the user side that we found, and without registers and stack, though it says how
 * many bytes there were; or `record` itself, which has some. Good until the next call.
 */
const struct sample_record *stack_walk_again(struct stack_walk *walk,
					     const struct sample_record *record,
					     struct stack_walk_list list,
					     struct unwind_space space);
