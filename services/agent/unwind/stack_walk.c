// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/stack_walk.h"

/* A guess reads the code before a return address, and code is not shipped. */
#define UNWIND_MAY_GUESS false
#include "bpf/unwind.h"

#include <string.h>

struct shipped_stack {
	struct unwind_space space;
	const uint8_t *stack;
	uint64_t from, bytes; /* the stack's */
	uint64_t first;       /* page of its pointer */
	bool ran_out;         /* the walk needed bytes after its end */
	bool is_absent;       /* the walk needed a page that was absent at the tick */
	uint64_t missing;     /* as in struct stack_walk */
};

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	struct shipped_stack *shipped = walk->self;
	uint64_t at = from - shipped->from;

	if (at > shipped->bytes || shipped->bytes - at < bytes) {
		shipped->ran_out = from >= shipped->from;
		shipped->is_absent =
			!shipped->ran_out && from / SAMPLE_STACK_PIECE >= shipped->first;
		return false;
	}
	memcpy(to, shipped->stack + at, bytes);
	return true;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	const struct shipped_stack *shipped = walk->self;

	return shipped->space.page(shipped->space.self, number);
}

/* True if the copy ends at the limit of a record and not at the end of the stack. */
static bool is_truncated(const struct shipped_stack *shipped)
{
	uint64_t end = (shipped->from + shipped->bytes) / SAMPLE_STACK_PIECE;

	return shipped->bytes && (shipped->from + shipped->bytes) % SAMPLE_STACK_PIECE == 0 &&
	       (end - shipped->first) % SAMPLE_STACK_PIECES == 0;
}

static bool wants_table(const struct unwind *walk)
{
	return walk->is_mapped && walk->mapping.table == 0 &&
	       !(walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS);
}

static bool is_in_generated(const struct unwind *walk)
{
	return walk->is_mapped && walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS;
}

static bool is_lost_in_generated(const struct unwind *walk)
{
	return walk->end == USER_END_BAD_FRAME && is_in_generated(walk);
}

/*
 * One step. A frame pointer that leads from generated code to file code may be that of an outer
 * function: which words below it calls return to is not known without the code. So it is a guess.
 */
static void step(struct unwind *walk)
{
	uint64_t below =
		walk->now.general[UNWIND_FRAME_POINTER] - walk->now.general[UNWIND_STACK_POINTER];
	bool was_in_generated = is_in_generated(walk);

	unwind_step(walk);
	if (was_in_generated && below && walk->end == USER_END_NONE && walk->is_mapped &&
	    !is_in_generated(walk))
		walk->flags |= SAMPLE_GUESSED;
}

/* Walks and writes the user frames. True if they are better than the record's. */
static bool walk_frames(struct unwind *walk, struct shipped_stack *shipped,
			const struct sample_record *record, struct sample_record *out)
{
	const uint64_t *before = record->frames + record->kernel_frames;
	uint64_t *frames = out->frames + record->kernel_frames;
	uint16_t count = 0;

	while (walk->end == USER_END_NONE && count < USER_FRAMES_MAX) {
		if (!shipped->missing && wants_table(walk))
			shipped->missing = unwind_lookup_address(walk);
		step(walk);
		frames[count++] = walk->shown;
	}
	if (walk->end == USER_END_NONE ||
	    (walk->end == USER_END_READ_FAULT && shipped->ran_out && is_truncated(shipped)))
		unwind_stop(walk, USER_END_TOO_DEEP);
	out->user_frames = count;
	out->user_end = (uint16_t)walk->end;
	if (walk->end != USER_END_NO_TABLE && !shipped->ran_out && !shipped->is_absent &&
	    !is_lost_in_generated(walk))
		return true;
	return count >= record->user_frames || memcmp(before, frames, count * sizeof(*frames)) != 0;
}

const struct sample_record *stack_walk_again(struct stack_walk *walk,
					     const struct sample_record *record,
					     struct stack_walk_list list, struct unwind_space space)
{
	const struct sample_registers *registers = sample_registers(record);
	const struct unwind_process process = { .place = list.place, .count = list.count };
	struct shipped_stack shipped = {
		.space = space,
		.stack = (const uint8_t *)(registers + 1),
		.from = unwind_stack_from(record),
		.bytes = record->stack_bytes,
		.first = registers->general[UNWIND_STACK_POINTER] / SAMPLE_STACK_PIECE,
	};
	struct unwind unwind = { .now = *registers, .self = &shipped };

	memcpy(&walk->made, record,
	       offsetof(struct sample_record, frames) +
		       record->kernel_frames * sizeof(record->frames[0]));
	unwind_begin(&unwind, &process);

	bool is_better = walk_frames(&unwind, &shipped, record, &walk->made);

	walk->missing = shipped.missing;
	if (!is_better) {
		walk->kept++;
		return record;
	}
	walk->walked++;
	walk->made.flags &= ~(uint32_t)(SAMPLE_FRAME_POINTERS | SAMPLE_GUESSED);
	walk->made.flags |= unwind.flags & (SAMPLE_FRAME_POINTERS | SAMPLE_GUESSED);
	return &walk->made;
}
