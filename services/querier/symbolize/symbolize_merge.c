// SPDX-License-Identifier: Apache-2.0
#include "querier/symbolize/symbolize_merge.h"

#include "base/hash.h"
#include "base/index.h"

#include <assert.h>

/*
 * The frames of the new merge that replace a frame of the old one: a range of `frames`, root first.
 */
struct frame_range {
	uint32_t first, len;
};

/* The frame of a function. A function belongs to one binary, which may have several paths. */
struct function_frame {
	const struct function_symbol *function;
	uint32_t frame; /* of the new merge */
	bool inlined;
};

struct symbolize_job {
	struct merge *into;
	const struct merge *from;
	const struct symbolize_options *options;
	struct arena *scratch;
	struct frame_range *ranges; /* by frame of the old merge */
	VEC(uint32_t) frames;       /* of the new merge: the storage of ranges */
	VEC(uint8_t) reasons;       /* by frame of the new merge */
	uint32_t *stack;            /* the stack that was translated last, */
	struct stack before;        /* from this stack of the old merge; */
	uint32_t *ends;             /* by frame of that: the end of its translation in `stack` */
	INDEX(uint32_t) stacks;     /* of the new merge, by their frames */
	INDEX(struct function_frame) function_frames; /* by function */
};

bool frame_needs_symbol(const struct frame *frame)
{
	return frame->function.len == 0 && frame->build_id.len &&
	       !str_eq(frame->type, STR("kernel"));
}

static void push(struct symbolize_job *job, uint32_t frame)
{
	*vec_push(job->scratch, &job->frames) = frame;
}

static uint32_t add_frame(struct symbolize_job *job, const struct frame *frame,
			  enum name_reason reason)
{
	uint32_t index = sample_set_frame(&job->into->set, frame);

	if (index == job->reasons.len)
		*vec_push(job->into->arena, &job->reasons) = (uint8_t)reason;
	return index;
}

static void add_line(struct symbolize_job *job, const struct frame *from,
		     const struct function_line *line, bool inlined)
{
	const struct function_symbol *function = line->function;
	struct frame frame = { .type = from->type,
			       .build_id = from->build_id,
			       .path = from->path,
			       .function = function->function,
			       .system_name = function->system_name,
			       .file = function->file,
			       .start_line = function->start_line,
			       .inlined = inlined };

	if (job->options->keep_addresses) {
		frame.address = from->address;
		frame.line = line->line;
		push(job, add_frame(job, &frame, NAME_KNOWN));
		return;
	}

	uint64_t key = ((uintptr_t)function + inlined) * UINT64_C(0x9e3779b97f4a7c15);
	const struct frame *frames = job->into->set.frames.items;
	struct function_frame *place =
		index_at(job->scratch, &job->function_frames, key >> 32, each,
			 each.function == function && each.inlined == inlined &&
				 str_eq(frames[each.frame].path, from->path));

	if (!place->function)
		*place = (struct function_frame){ function, add_frame(job, &frame, NAME_KNOWN),
						  inlined };
	push(job, place->frame);
}

static struct frame_range range_of(struct symbolize_job *job, uint32_t index)
{
	const struct frame *frame = &job->from->set.frames.items[index];
	struct frame_range range = { .first = (uint32_t)job->frames.len };
	struct address_lines name = { 0 };

	if (frame_needs_symbol(frame))
		name = job->options->resolved[index];
	/* Lines are innermost first; the new frames are root first. */
	for (uint32_t i = name.len; i-- > 0;)
		add_line(job, frame, &name.lines[i], i + 1 < name.len);
	if (name.len == 0)
		push(job, add_frame(job, frame, name.reason));
	range.len = (uint32_t)job->frames.len - range.first;
	return range;
}

static bool within_memory(const struct symbolize_job *job, struct err *err)
{
	return merge_within_memory(job->into, job->scratch, err);
}

static bool make_ranges(struct symbolize_job *job, struct err *err)
{
	size_t count = job->from->set.frames.len;

	job->ranges = arena_array(job->scratch, struct frame_range, count);
	for (size_t i = 0; i < count; i++) {
		job->ranges[i] = range_of(job, (uint32_t)i);
		if (!within_memory(job, err))
			return false;
	}
	return true;
}

/* Room for the translation of the longest stack. */
static void make_room_for_stacks(struct symbolize_job *job)
{
	const struct sample_set *set = &job->from->set;
	size_t deepest = 0, longest = 0;

	for (size_t i = 0; i < set->stacks.len; i++)
		if (set->stacks.items[i].len > deepest)
			deepest = set->stacks.items[i].len;
	for (size_t i = 0; i < set->frames.len; i++)
		if (job->ranges[i].len > longest)
			longest = job->ranges[i].len;
	job->stack = arena_array(job->scratch, uint32_t, deepest * longest);
	job->ends = arena_array(job->scratch, uint32_t, deepest);
}

/*
 * Translate a stack into frames of the new merge, root first. The stacks of a stored row are
 * sorted, so most share a prefix with the previous stack, whose translation is reused.
 */
static struct stack translate(struct symbolize_job *job, struct stack from)
{
	struct stack before = job->before;
	size_t i = 0;

	while (i < from.len && i < before.len && from.frames[i] == before.frames[i])
		i++;

	uint32_t len = i ? job->ends[i - 1] : 0;

	for (; i < from.len; i++) {
		struct frame_range range = job->ranges[from.frames[i]];
		const uint32_t *frames = job->frames.items + range.first;

		assert(job->frames.items);
		for (uint32_t j = 0; j < range.len; j++)
			job->stack[len++] = frames[j];
		job->ends[i] = len;
	}
	job->before = from;
	return (struct stack){ job->stack, len };
}

static bool is_equal(struct stack a, struct stack b)
{
	return a.len == b.len &&
	       (a.len == 0 || memcmp(a.frames, b.frames, a.len * sizeof(*a.frames)) == 0);
}

/*
 * Most stacks become equal to one that exists already. Here they are found by the numbers of their
 * frames, a tenth of the bytes that sample_set_stack() hashes, because its ids must be the same in
 * every set. If addresses are kept, all stacks differ, so this table is not used.
 */
static uint32_t stack_of(struct symbolize_job *job, struct stack from)
{
	struct sample_set *set = &job->into->set;
	struct stack stack = translate(job, from);
	str bytes = { (const char *)stack.frames, stack.len * sizeof(*stack.frames) };

	if (job->options->keep_addresses)
		return sample_set_stack(set, stack.frames, stack.len);

	size_t known = job->stacks.len;
	uint32_t *index = index_at(job->scratch, &job->stacks, hash_64(bytes), each,
				   is_equal(set->stacks.items[each], stack));

	if (job->stacks.len > known)
		*index = sample_set_stack(set, stack.frames, stack.len);
	return *index;
}

/* Most stacks and functions are few, but growing to many would cost more than the room. */
static void make_room(struct symbolize_job *job)
{
	index_reserve(job->scratch, &job->function_frames, job->from->set.frames.len);
	index_reserve(job->scratch, &job->stacks, job->from->set.stacks.len);
}

/* Every stack of a merge has a sample, so all are translated. */
static bool add_samples(struct symbolize_job *job, struct err *err)
{
	const struct sample_set *set = &job->from->set;
	uint32_t *stacks = arena_array(job->scratch, uint32_t, set->stacks.len);

	make_room_for_stacks(job);
	for (size_t i = 0; i < set->stacks.len; i++) {
		stacks[i] = stack_of(job, set->stacks.items[i]);
		if (!within_memory(job, err))
			return false;
	}
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];

		if (!merge_add(job->into, stacks[sample->stack], sample->labels, sample->value,
			       err))
			return false;
	}
	return within_memory(job, err);
}

bool symbolize_merge(struct merge *into, const struct merge *from,
		     const struct symbolize_options *options, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct symbolize_job job = { into, from, options, &scratch, .ranges = NULL };

	into->set.series.items[0].period = from->set.series.items[0].period;
	/* All label sets are different, so they get the same numbers again. */
	for (size_t i = 0; i < from->set.label_sets.len; i++)
		(void)sample_set_labels(&into->set, from->set.label_sets.items[i]);
	if (options->keep_addresses)
		sample_set_reserve(&into->set, from->set.frames.len, from->set.stacks.len,
				   from->set.samples.len);
	else
		make_room(&job);
	if (!make_ranges(&job, err) || !add_samples(&job, err))
		return false;
	into->reasons = job.reasons.items;
	return true;
}
