// SPDX-License-Identifier: Apache-2.0
/*
 * walks - two walks of one captured stack: ours, and that of elfutils' libdwfl.
 *
 * Both get the same registers and the same bytes of the stack, and nothing else of the process'
 * memory. Addresses are as they are: those to return to, or where a signal came.
 *
 * perf captures nothing below the stack pointer. Where a function has just popped its frame
 * pointer, libdwfl looks for it there, and without it loses its way a frame later; ours takes it
 * from the register. Such stacks cannot be compared, and are counted apart.
 */
#pragma once

#include "places.h"

enum { WALK_FRAMES_MAX = USER_FRAMES_MAX };

struct walked {
	uint64_t frames[WALK_FRAMES_MAX]; /* leaf first */
	size_t count;
	const char *end;         /* why it ended, in a word or a sentence */
	bool is_complete;        /* it says that it reached the root */
	bool by_frame_pointers;  /* of ours: at least one step was */
	size_t first_by_pointer; /* of ours: the frame that was left so first */
	bool asked_below;        /* of libdwfl's: for memory below the leaf's stack pointer */
};

void walk_ours(struct places *places, struct process_places *process,
	       const struct capture_event *sample, struct walked *ret);

void walk_dwfl(struct process_places *process, const struct capture_event *sample,
	       struct walked *ret);
