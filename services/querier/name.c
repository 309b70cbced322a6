// SPDX-License-Identifier: Apache-2.0
#include "name.h"

#include "base/hash.h"

#include <assert.h>

/* What a frame of the old merge is in the new one: a run of indexes, root first. */
struct chain {
	uint32_t first, len;
};

/* What a function is as a frame; a function belongs to one binary, which may have several paths. */
struct known {
	const struct name_function *function; /* NULL: free */
	uint32_t frame;                       /* of the new merge */
	bool inlined;
};

struct naming {
	struct merge *into;
	const struct merge *from;
	const struct name_options *options;
	struct arena *scratch;
	struct chain *chains; /* by frame of the old merge */
	VEC(uint32_t) frames; /* of the new one: what chains are runs of */
	VEC(uint8_t) reasons; /* by frame of the new one */
	uint32_t *stack;      /* the one that was made last, */
	struct stack before;  /* of this one of the old merge; */
	uint32_t *ends;       /* by its frames: up to where they are translated */
	uint32_t *slots; /* stacks of the new merge by their frames: index + 1; half full at most */
	struct known *known; /* functions of the new merge */
	size_t known_count;
	size_t slot_count; /* of each of both: a power of two */
};

bool name_is_wanted(const struct frame *frame)
{
	return frame->function.len == 0 && frame->build_id.len &&
	       !str_eq(frame->type, STR("kernel"));
}

static void push(struct naming *naming, uint32_t frame)
{
	*vec_push(naming->scratch, &naming->frames) = frame;
}

static uint32_t add_frame(struct naming *naming, const struct frame *frame, enum name_reason reason)
{
	uint32_t index = sample_set_frame(&naming->into->set, frame);

	if (index == naming->reasons.len)
		*vec_push(naming->into->arena, &naming->reasons) = (uint8_t)reason;
	return index;
}

/* Its place: where it stands, or the next free one. */
static struct known *known_at(struct naming *naming, const struct name_function *function,
			      bool inlined, str path)
{
	uint64_t key = ((uintptr_t)function + inlined) * UINT64_C(0x9e3779b97f4a7c15);

	for (size_t at = key >> 32;; at++) {
		struct known *known = &naming->known[at & (naming->slot_count - 1)];

		if (!known->function ||
		    (known->function == function && known->inlined == inlined &&
		     str_eq(naming->into->set.frames.items[known->frame].path, path)))
			return known;
	}
}

static void add_line(struct naming *naming, const struct frame *from, const struct name_line *line,
		     bool inlined)
{
	const struct name_function *function = line->function;
	struct frame frame = { .type = from->type,
			       .path = from->path,
			       .function = function->function,
			       .system_name = function->system_name,
			       .file = function->file,
			       .start_line = function->start_line,
			       .inlined = inlined };

	if (naming->options->keep_addresses) {
		frame.build_id = from->build_id;
		frame.address = from->address;
		frame.line = line->line;
		push(naming, add_frame(naming, &frame, NAME_KNOWN));
		return;
	}

	struct known *known = known_at(naming, function, inlined, from->path);

	/* As many at most as there are frames, and half of the places: else it is not remembered.
	 */
	if (known->function)
		push(naming, known->frame);
	else if (naming->known_count * 2 > naming->slot_count)
		push(naming, add_frame(naming, &frame, NAME_KNOWN));
	else {
		*known = (struct known){ function, add_frame(naming, &frame, NAME_KNOWN), inlined };
		naming->known_count++;
		push(naming, known->frame);
	}
}

static struct chain chain_of(struct naming *naming, uint32_t index)
{
	const struct frame *frame = &naming->from->set.frames.items[index];
	struct chain chain = { .first = (uint32_t)naming->frames.len };
	struct name name = { 0 };

	if (name_is_wanted(frame))
		name = naming->options->names[index];
	/* Innermost first becomes root first. */
	for (uint32_t i = name.len; i-- > 0;)
		add_line(naming, frame, &name.lines[i], i + 1 < name.len);
	if (name.len == 0)
		push(naming, add_frame(naming, frame, name.reason));
	chain.len = (uint32_t)naming->frames.len - chain.first;
	return chain;
}

static bool within_memory(const struct naming *naming, struct err *err)
{
	return merge_within_memory(naming->into, naming->scratch, err);
}

static bool make_chains(struct naming *naming, struct err *err)
{
	size_t count = naming->from->set.frames.len;

	naming->chains = arena_array(naming->scratch, struct chain, count);
	for (size_t i = 0; i < count; i++) {
		naming->chains[i] = chain_of(naming, (uint32_t)i);
		if (!within_memory(naming, err))
			return false;
	}
	return true;
}

/* Room for the longest of the old stacks, translated. */
static void make_room_for_stacks(struct naming *naming)
{
	const struct sample_set *set = &naming->from->set;
	size_t deepest = 0, longest = 0;

	for (size_t i = 0; i < set->stacks.len; i++)
		if (set->stacks.items[i].len > deepest)
			deepest = set->stacks.items[i].len;
	for (size_t i = 0; i < set->frames.len; i++)
		if (naming->chains[i].len > longest)
			longest = naming->chains[i].len;
	naming->stack = arena_array(naming->scratch, uint32_t, deepest * longest);
	naming->ends = arena_array(naming->scratch, uint32_t, deepest);
}

/*
 * The stack in the new merge's frames, root first. Stacks of a stored row are sorted, so most begin
 * as the one before: that much of it stands there translated.
 */
static struct stack translate(struct naming *naming, struct stack from)
{
	struct stack before = naming->before;
	size_t i = 0;

	while (i < from.len && i < before.len && from.frames[i] == before.frames[i])
		i++;

	uint32_t len = i ? naming->ends[i - 1] : 0;

	for (; i < from.len; i++) {
		struct chain chain = naming->chains[from.frames[i]];
		const uint32_t *frames = naming->frames.items + chain.first;

		assert(naming->frames.items);
		for (uint32_t j = 0; j < chain.len; j++)
			naming->stack[len++] = frames[j];
		naming->ends[i] = len;
	}
	naming->before = from;
	return (struct stack){ naming->stack, len };
}

static bool is_equal(struct stack a, struct stack b)
{
	return a.len == b.len &&
	       (a.len == 0 || memcmp(a.frames, b.frames, a.len * sizeof(*a.frames)) == 0);
}

/*
 * Most stacks become one that is there already. They are found by their frames' numbers, which is
 * a tenth of what a set looks at, since its ids hold in every set. Where addresses are kept, each
 * is another.
 */
static uint32_t stack_of(struct naming *naming, struct stack from)
{
	struct sample_set *set = &naming->into->set;
	struct stack stack = translate(naming, from);
	str bytes = { (const char *)stack.frames, stack.len * sizeof(*stack.frames) };
	size_t at;

	if (naming->options->keep_addresses)
		return sample_set_stack(set, stack.frames, stack.len);
	for (at = hash_64(bytes);; at++) {
		uint32_t slot = naming->slots[at & (naming->slot_count - 1)];

		if (slot == 0)
			break;
		if (is_equal(set->stacks.items[slot - 1], stack))
			return slot - 1;
	}

	uint32_t index = sample_set_stack(set, stack.frames, stack.len);

	naming->slots[at & (naming->slot_count - 1)] = index + 1;
	return index;
}

static void make_room(struct naming *naming)
{
	const struct sample_set *from = &naming->from->set;
	size_t most = from->frames.len > from->stacks.len ? from->frames.len : from->stacks.len;

	if (naming->options->keep_addresses) {
		sample_set_reserve(&naming->into->set, from->frames.len, from->stacks.len,
				   from->samples.len);
		return;
	}
	naming->slot_count = 64;
	while (naming->slot_count < 2 * most)
		naming->slot_count *= 2;
	naming->slots = arena_array(naming->scratch, uint32_t, naming->slot_count);
	naming->known = arena_array(naming->scratch, struct known, naming->slot_count);
}

/* A merge's samples speak of each of its stacks. */
static bool add_samples(struct naming *naming, struct err *err)
{
	const struct sample_set *set = &naming->from->set;
	uint32_t *stacks = arena_array(naming->scratch, uint32_t, set->stacks.len);

	make_room_for_stacks(naming);
	for (size_t i = 0; i < set->stacks.len; i++) {
		stacks[i] = stack_of(naming, set->stacks.items[i]);
		if (!within_memory(naming, err))
			return false;
	}
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];

		if (!merge_add(naming->into, stacks[sample->stack], sample->labels, sample->value,
			       err))
			return false;
	}
	return within_memory(naming, err);
}

bool name_merge(struct merge *into, const struct merge *from, const struct name_options *options,
		struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct naming naming = { into, from, options, &scratch, .chains = NULL };

	into->set.series.items[0].period = from->set.series.items[0].period;
	/* Each is another, so they get the same numbers again. */
	for (size_t i = 0; i < from->set.label_sets.len; i++)
		(void)sample_set_labels(&into->set, from->set.label_sets.items[i]);
	make_room(&naming);
	if (!make_chains(&naming, err) || !add_samples(&naming, err))
		return false;
	into->reasons = naming.reasons.items;
	return true;
}
