// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind - the walk of one user stack, a frame a step.
 *
 *     unwind_begin(walk, registers);
 *     while (walk->end == USER_END_NONE && frames < room) {
 *             unwind_step(walk);
 *             frame[frames++] = walk->shown;
 *     }
 *
 * Compiled into the BPF programs, into tests on the host, and into the agent, which walks the
 * stacks that travelled. Who includes this says first how the thread's memory is read:
 *
 *     static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from);
 *
 * Every way out sets walk->end. The first read that fails ends the walk: in BPF each costs half a
 * microsecond and more.
 */
#pragma once

#include "sample.h"
#include "unwind_machine.h"

struct unwind {
	struct sample_registers now; /* of the frame where the walk stands */
	uint64_t shown;              /* the address of the frame that was left last, for a record */
	uint32_t end;                /* enum user_end; USER_END_NONE: the walk goes on */
	uint32_t flags;              /* SAMPLE_FRAME_POINTERS once a step was by them */
	bool is_exact;               /* pc is where the thread goes on, not one past a call */
	bool is_leaf;
	void *self; /* of who includes this */
};

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from);

static inline void unwind_begin(struct unwind *walk, const struct sample_registers *registers)
{
	walk->now = *registers;
	walk->shown = 0;
	walk->flags = 0;
	walk->end = USER_END_NONE;
	walk->is_exact = walk->is_leaf = true;
}

static inline void unwind_stop(struct unwind *walk, enum user_end end)
{
	walk->end = (uint32_t)end;
}

/* The caller of a function that keeps the frame pointer: *pointer is the caller's, then the pc. */
static inline void unwind_by_frame_pointer(struct unwind *walk, enum user_end astray)
{
	uint64_t pointer = walk->now.general[UNWIND_FRAME_POINTER];
	uint64_t frame[2];

	walk->flags |= SAMPLE_FRAME_POINTERS;
	if (pointer == 0) /* where the root leaves it; a leaf may have any value there */
		return unwind_stop(walk, walk->is_leaf ? astray : USER_END_COMPLETE);
	if (pointer < walk->now.general[UNWIND_STACK_POINTER])
		return unwind_stop(walk, astray);
	if (!unwind_read_user(walk, frame, sizeof(frame), pointer))
		return unwind_stop(walk, astray);
	walk->now.pc = unwind_address(frame[1]);
	walk->now.general[UNWIND_FRAME_POINTER] = frame[0];
	walk->now.general[UNWIND_STACK_POINTER] = pointer + sizeof(frame);
	walk->is_exact = walk->is_leaf = false;
	if (walk->now.pc == 0)
		unwind_stop(walk, USER_END_COMPLETE);
}

/* From the frame where the walk stands to its caller, or to the walk's end. */
static inline void unwind_step(struct unwind *walk)
{
	walk->shown = walk->now.pc;
	unwind_by_frame_pointer(walk, USER_END_NO_TABLE);
}
