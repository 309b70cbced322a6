// SPDX-License-Identifier: Apache-2.0
/* A guess inspects the code before a return address, and a capture has no code. */
#define UNWIND_MAY_GUESS false
#include "bpf/unwind.h"
#include "walks.h"

struct seen {
	const struct places *places;
	str stack;
	uint64_t at;
};

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	const struct seen *seen = walk->self;

	if (from < seen->at || from - seen->at > seen->stack.len ||
	    seen->stack.len - (from - seen->at) < bytes)
		return false;
	memcpy(to, seen->stack.ptr + (from - seen->at), bytes);
	return true;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	const struct seen *seen = walk->self;

	return number < seen->places->pages.len ? seen->places->pages.items[number] : NULL;
}

void walk_ours(struct places *places, struct process_places *process,
	       const struct capture_event *sample, struct walked *ret)
{
	const struct unwind_process *list = places_list(places, process);
	struct seen seen = { .places = places,
			     .stack = sample->stack,
			     .at = sample->registers.general[UNWIND_STACK_POINTER] };
	struct unwind walk = { .now = sample->registers, .self = &seen };

	ret->count = 0;
	ret->by_frame_pointers = false;
	unwind_begin(&walk, list);
	while (walk.end == USER_END_NONE && ret->count < WALK_FRAMES_MAX) {
		ret->frames[ret->count] = walk.now.pc;
		unwind_step(&walk);
		if (walk.flags & SAMPLE_FRAME_POINTERS && !ret->by_frame_pointers) {
			ret->by_frame_pointers = true;
			ret->first_by_pointer = ret->count;
		}
		ret->count++;
	}
	ret->end = user_end_names[walk.end == USER_END_NONE ? USER_END_TOO_DEEP : walk.end];
	ret->is_complete = walk.end == USER_END_COMPLETE;
}
