// SPDX-License-Identifier: Apache-2.0
#include "profile/limits.h"
#include "store/chunk/chunk_stacks_internal.h"
#include "store/limits.h"

/* Tables of the row, indexed as in the row. */
struct stacks {
	struct chunk_decoder *decoder;
	struct frame *origins; /* type, build id and path filled */
	uint32_t *frames;      /* index in the set */
	bool *frames_used;     /* NULL: all are used */
	uint32_t *stacks;      /* index in the set */
	uint64_t origin_count, frame_count;
};

static uint32_t read_u32(struct reader *column)
{
	uint64_t value = reader_varint(column);

	if (value > UINT32_MAX)
		reader_fail(column);
	return (uint32_t)value;
}

static void read_origins(struct stacks *stacks)
{
	struct chunk_decoder *decoder = stacks->decoder;
	struct reader *column = &decoder->columns.of[CHUNK_ORIGINS];

	stacks->origin_count = chunk_decoder_read_table(decoder, column, sizeof(struct frame));
	stacks->origins = arena_array(&decoder->scratch, struct frame, stacks->origin_count);
	for (uint64_t i = 0; i < stacks->origin_count; i++) {
		stacks->origins[i].type = chunk_decoder_read_string(decoder, column);
		stacks->origins[i].build_id = chunk_decoder_read_string(decoder, column);
		stacks->origins[i].path = chunk_decoder_read_string(decoder, column);
	}
}

/* Function, file and lines of a named frame. */
static void read_names(struct chunk_decoder *decoder, uint64_t *function, struct frame *frame)
{
	struct reader *names = &decoder->columns.of[CHUNK_NAMES];

	*function += (uint64_t)reader_zigzag(names);
	if (*function >= decoder->string_count) {
		reader_fail(names);
		return;
	}
	frame->function = decoder->strings[*function];
	frame->system_name = chunk_decoder_read_string(decoder, names);
	frame->file = chunk_decoder_read_string(decoder, names);
	frame->line = read_u32(names);
	frame->start_line = read_u32(names);
}

static void read_frames(struct stacks *stacks)
{
	struct chunk_decoder *decoder = stacks->decoder;
	struct reader *column = &decoder->columns.of[CHUNK_FRAMES];
	uint64_t origin = 0, address = 0, function = 0;

	for (uint64_t i = 0; i < stacks->frame_count; i++) {
		uint64_t step = reader_varint(column), flags = reader_varint(column);

		if (__builtin_add_overflow(origin, step, &origin) || column->failed ||
		    origin >= stacks->origin_count ||
		    !chunk_decoder_has_room(decoder, 1, sizeof(struct frame))) {
			reader_fail(column);
			return;
		}
		if (step)
			address = 0;
		address += reader_varint(&decoder->columns.of[CHUNK_ADDRESSES]);

		struct frame frame = stacks->origins[origin];

		frame.address = address;
		frame.inlined = flags & CHUNK_FRAME_INLINED;
		if (flags & CHUNK_FRAME_NAMED)
			read_names(decoder, &function, &frame);
		if (decoder->columns.of[CHUNK_NAMES].failed)
			return;
		if (!stacks->frames_used || stacks->frames_used[i])
			stacks->frames[i] = sample_set_frame(decoder->set, &frame);
	}
}

/* The first pass marks the frames of the stacks in use; the second adds these stacks to the set. */
enum stack_pass { MARK_FRAMES, PUT_STACKS };

static void visit_frame(struct stacks *stacks, enum stack_pass pass, uint32_t frame,
			uint32_t *ret_of_set)
{
	if (pass == MARK_FRAMES)
		stacks->frames_used[frame] = true;
	else
		*ret_of_set = stacks->frames[frame];
}

/* The current stack, as frames of the row. */
struct stack_cursor {
	uint32_t frames[STACK_DEPTH_MAX];
	uint64_t depth, shared; /* shared: with the previous stack */
	uint64_t total;         /* frames of all so far */
};

static bool next_stack(struct stacks *stacks, struct reader *shapes, struct reader *frames,
		       struct stack_cursor *cursor)
{
	uint64_t shared = reader_varint(shapes), fresh = reader_varint(shapes);

	if (shared > cursor->depth || fresh > STACK_DEPTH_MAX - shared ||
	    fresh > reader_left(frames) || cursor->total > CHUNK_FRAMES_MAX ||
	    !chunk_decoder_has_room(stacks->decoder, STACK_DEPTH_MAX, sizeof(uint32_t))) {
		reader_fail(shapes);
		return false;
	}
	cursor->shared = shared;
	cursor->depth = shared + fresh;
	cursor->total += cursor->depth;
	for (uint64_t i = shared; i < cursor->depth; i++)
		cursor->frames[i] = (uint32_t)chunk_decoder_read_index(frames, stacks->frame_count);
	return !frames->failed;
}

static void visit_stacks(struct stacks *stacks, enum stack_pass pass, struct reader *shapes,
			 struct reader *frames)
{
	struct chunk_decoder *decoder = stacks->decoder;
	struct stack_cursor cursor = { .depth = 0 };
	uint32_t of_set[STACK_DEPTH_MAX] = { 0 };
	uint64_t visited = 0; /* frames of the cursor visited since they last changed */

	for (uint64_t i = 0; i < decoder->stack_count; i++) {
		if (!next_stack(stacks, shapes, frames, &cursor))
			return;
		if (visited > cursor.shared)
			visited = cursor.shared;
		if (!decoder->stacks_used[i])
			continue;
		for (; visited < cursor.depth; visited++)
			visit_frame(stacks, pass, cursor.frames[visited], &of_set[visited]);
		if (pass == PUT_STACKS)
			stacks->stacks[i] =
				sample_set_stack(decoder->set, of_set, (size_t)cursor.depth);
	}
}

/* Frames that no stack in use references are not added: few slices need few frames of the row. */
static void mark_frames(struct stacks *stacks)
{
	struct chunk_columns *columns = &stacks->decoder->columns;
	struct reader shapes = columns->of[CHUNK_STACK_SHAPES];
	struct reader frames = columns->of[CHUNK_STACK_FRAMES];

	stacks->frames_used = arena_array(&stacks->decoder->scratch, bool, stacks->frame_count);
	visit_stacks(stacks, MARK_FRAMES, &shapes, &frames);
	if (shapes.failed || frames.failed)
		reader_fail(&columns->of[CHUNK_STACK_SHAPES]);
}

void chunk_stacks_count(struct chunk_decoder *decoder)
{
	struct reader *shapes = &decoder->columns.of[CHUNK_STACK_SHAPES];

	decoder->stack_count =
		chunk_decoder_read_table(decoder, shapes, sizeof(uint32_t) + sizeof(bool));
	decoder->stacks_used = arena_array(&decoder->scratch, bool, decoder->stack_count);
}

void chunk_stacks_read(struct chunk_decoder *decoder)
{
	struct chunk_columns *columns = &decoder->columns;
	struct sample_set *set = decoder->set;
	struct stacks stacks = { .decoder = decoder };
	bool all = decoder->stacks_used_count == decoder->stack_count;

	read_origins(&stacks);
	stacks.frame_count = chunk_decoder_read_table(decoder, &columns->of[CHUNK_FRAMES],
						      sizeof(uint32_t) + sizeof(bool));
	stacks.frames = arena_array(&decoder->scratch, uint32_t, stacks.frame_count);
	stacks.stacks = arena_array(&decoder->scratch, uint32_t, decoder->stack_count);
	if (all)
		sample_set_reserve(
			set, set->frames.len + chunk_decoder_plausible(stacks.frame_count), 0, 0);
	else
		mark_frames(&stacks);
	if (columns->of[CHUNK_STACK_SHAPES].failed || columns->of[CHUNK_ORIGINS].failed)
		return;
	sample_set_reserve(
		set, 0, set->stacks.len + chunk_decoder_plausible(decoder->stacks_used_count), 0);
	read_frames(&stacks);
	if (columns->of[CHUNK_FRAMES].failed || columns->of[CHUNK_NAMES].failed)
		return;
	visit_stacks(&stacks, PUT_STACKS, &columns->of[CHUNK_STACK_SHAPES],
		     &columns->of[CHUNK_STACK_FRAMES]);
	for (size_t i = decoder->first_sample; i < set->samples.len; i++)
		set->samples.items[i].stack = stacks.stacks[set->samples.items[i].stack];
}
