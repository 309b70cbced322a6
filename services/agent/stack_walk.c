// SPDX-License-Identifier: Apache-2.0
#include "stack_walk.h"

/* A guess looks at the code before a return address, and code does not travel. */
#define UNWIND_MAY_GUESS false
#include "unwind.h"

#include <string.h>

struct travelled {
	struct unwind_space space;
	const uint8_t *stack;
	uint64_t from, bytes; /* the stack's */
	uint64_t first;       /* page of its pointer */
	bool ran_out;         /* the walk wanted more of it */
	bool is_absent;       /* it wanted what was not there at the tick */
	uint64_t missing;     /* as in struct stack_walk */
};

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	struct travelled *travelled = walk->self;
	uint64_t at = from - travelled->from;

	if (at > travelled->bytes || travelled->bytes - at < bytes) {
		travelled->ran_out = from >= travelled->from;
		travelled->is_absent =
			!travelled->ran_out && from / SAMPLE_STACK_PIECE >= travelled->first;
		return false;
	}
	memcpy(to, travelled->stack + at, bytes);
	return true;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	const struct travelled *travelled = walk->self;

	return travelled->space.page(travelled->space.self, number);
}

/* All the pieces of a record are there, and more did not come: the end is our own bound. */
static bool is_cut(const struct travelled *travelled)
{
	uint64_t end = (travelled->from + travelled->bytes) / SAMPLE_STACK_PIECE;

	return travelled->bytes && (travelled->from + travelled->bytes) % SAMPLE_STACK_PIECE == 0 &&
	       (end - travelled->first) % SAMPLE_STACK_PIECES == 0;
}

static bool wants_table(const struct unwind *walk)
{
	return walk->is_mapped && walk->mapping.table == 0 &&
	       !(walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS);
}

static bool is_lost_in_generated(const struct unwind *walk)
{
	return walk->end == USER_END_BAD_FRAME && walk->is_mapped &&
	       walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS;
}

/* Writes the user frames; true if these are the better ones. */
static bool walk_frames(struct unwind *walk, struct travelled *travelled,
			const struct sample_record *record, struct sample_record *out)
{
	const uint64_t *before = record->frames + record->kernel_frames;
	uint64_t *frames = out->frames + record->kernel_frames;
	uint16_t count = 0;

	while (walk->end == USER_END_NONE && count < USER_FRAMES_MAX) {
		if (!travelled->missing && wants_table(walk))
			travelled->missing = unwind_place(walk);
		unwind_step(walk);
		frames[count++] = walk->shown;
	}
	if (walk->end == USER_END_NONE ||
	    (walk->end == USER_END_READ_FAULT && travelled->ran_out && is_cut(travelled)))
		unwind_stop(walk, USER_END_TOO_DEEP);
	out->user_frames = count;
	out->user_end = (uint16_t)walk->end;
	if (walk->end != USER_END_NO_TABLE && !travelled->ran_out && !travelled->is_absent &&
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
	struct travelled travelled = {
		.space = space,
		.stack = (const uint8_t *)(registers + 1),
		.from = unwind_stack_from(record),
		.bytes = record->stack_bytes,
		.first = registers->general[UNWIND_STACK_POINTER] / SAMPLE_STACK_PIECE,
	};
	struct unwind unwind = { .now = *registers, .self = &travelled };

	memcpy(&walk->made, record,
	       offsetof(struct sample_record, frames) +
		       record->kernel_frames * sizeof(record->frames[0]));
	unwind_begin(&unwind, &process);

	bool is_better = walk_frames(&unwind, &travelled, record, &walk->made);

	walk->missing = travelled.missing;
	if (!is_better) {
		walk->kept++;
		return record;
	}
	walk->walked++;
	walk->made.flags &= ~(uint32_t)(SAMPLE_FRAME_POINTERS | SAMPLE_GUESSED);
	walk->made.flags |= unwind.flags & (SAMPLE_FRAME_POINTERS | SAMPLE_GUESSED);
	return &walk->made;
}
