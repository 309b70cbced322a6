// SPDX-License-Identifier: Apache-2.0
/*
 * walks - two walks of one captured stack: ours, and that of libdwfl of elfutils.
 *
 * Both use the same registers and the same bytes of the stack, and no other memory of the process.
 * Addresses are unmodified: return addresses, or the address at which a signal interrupted the
 * code.
 *
 * perf does not capture memory below the stack pointer. If a function has just popped its frame
 * pointer, libdwfl reads it from there, fails, and loses the stack a frame later; our walk takes it
 * from the register. These stacks cannot be compared and are counted separately.
 */
#pragma once

#include "places.h"

enum { WALK_FRAMES_MAX = USER_FRAMES_MAX };

struct walked {
	uint64_t frames[WALK_FRAMES_MAX]; /* leaf first */
	size_t count;
	const char *end;         /* why the walk ended, as a word or a sentence */
	bool is_complete;        /* the walk reached the root */
	bool by_frame_pointers;  /* our walk: at least one step used the frame pointer */
	size_t first_by_pointer; /* our walk: the first frame that was left by the frame pointer */
	bool read_below;         /* libdwfl read memory below the stack pointer of the leaf */
};

void walk_ours(struct places *places, struct process_places *process,
	       const struct capture_event *sample, struct walked *ret);

void walk_dwfl(struct process_places *process, const struct capture_event *sample,
	       struct walked *ret);
