#include "name.h"

#include <assert.h>

/* What a frame of the old merge is in the new one: a run of indexes, root first. */
struct chain {
	uint32_t first, len;
};

struct naming {
	struct merge *into;
	const struct merge *from;
	const struct name_options *options;
	struct arena *scratch;
	struct chain *chains; /* by frame of the old merge */
	VEC(uint32_t) frames; /* of the new one: what chains are runs of */
	VEC(uint8_t) reasons; /* by frame of the new one */
	VEC(uint32_t) stack;  /* the one that is being made */
};

bool name_is_wanted(const struct frame *frame)
{
	return frame->function.len == 0 && frame->build_id.len &&
	       !str_eq(frame->type, STR("kernel"));
}

static void add_frame(struct naming *naming, const struct frame *frame, enum name_reason reason)
{
	uint32_t index = sample_set_frame(&naming->into->set, frame);

	if (index == naming->reasons.len)
		*vec_push(naming->into->arena, &naming->reasons) = (uint8_t)reason;
	*vec_push(naming->scratch, &naming->frames) = index;
}

static void add_line(struct naming *naming, const struct frame *from, const struct name_line *line,
		     bool inlined)
{
	struct frame frame = { .type = from->type, .path = from->path, .inlined = inlined };

	frame.function = line->function->function;
	frame.system_name = line->function->system_name;
	frame.file = line->function->file;
	frame.start_line = line->function->start_line;
	if (naming->options->keep_addresses) {
		frame.build_id = from->build_id;
		frame.address = from->address;
		frame.line = line->line;
	}
	add_frame(naming, &frame, NAME_KNOWN);
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
		add_frame(naming, frame, name.reason);
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

static uint32_t stack_of(struct naming *naming, struct stack from)
{
	naming->stack.len = 0;
	for (size_t i = 0; i < from.len; i++) {
		struct chain chain = naming->chains[from.frames[i]];

		assert(naming->frames.items && chain.len);
		for (uint32_t j = 0; j < chain.len; j++)
			*vec_push(naming->scratch, &naming->stack) =
				naming->frames.items[chain.first + j];
	}
	return sample_set_stack(&naming->into->set, naming->stack.items, naming->stack.len);
}

/* A merge's samples speak of each of its stacks. */
static bool add_samples(struct naming *naming, struct err *err)
{
	const struct sample_set *set = &naming->from->set;
	uint32_t *stacks = arena_array(naming->scratch, uint32_t, set->stacks.len);

	for (size_t i = 0; i < set->stacks.len; i++) {
		stacks[i] = stack_of(naming, set->stacks.items[i]);
		if (!within_memory(naming, err))
			return false;
	}
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];

		if (!merge_add(naming->into, stacks[sample->stack], sample->labels, sample->value,
			       err) ||
		    !within_memory(naming, err))
			return false;
	}
	return true;
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
	if (!make_chains(&naming, err) || !add_samples(&naming, err))
		return false;
	into->reasons = naming.reasons.items;
	return true;
}
