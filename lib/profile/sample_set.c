// SPDX-License-Identifier: Apache-2.0
#include "profile/sample_set.h"

#include <assert.h>

/* The item with that id, as index + 1. 0: it is new, and the caller sets it. */
#define AT(set, index, ids, id) \
	index_at((set)->arena, (index), (id).low, each, hash128_eq((ids).items[each - 1], (id)))

static void hash_labels(struct labels labels, struct buf *scratch)
{
	scratch->len = 0;
	labels_hash_input(labels, scratch);
}

uint64_t series_id(str type, struct labels labels, struct arena *scratch)
{
	struct buf input = { .arena = scratch };

	buf_str_prefixed(&input, type);
	labels_hash_input(labels, &input);
	return hash_64(buf_bytes(&input));
}

unsigned int series_bucket(struct labels labels)
{
	return (unsigned int)(hash_64(labels_get(labels, STR("service_name"))) % SERIES_BUCKETS);
}

void sample_set_init(struct sample_set *set, struct arena *arena)
{
	*set = (struct sample_set){
		.arena = arena,
		.scratch = { .arena = arena },
	};
	/* Index 0: the empty stack and the empty label set. */
	sample_set_stack(set, NULL, 0);
	sample_set_labels(set, (struct labels){ 0 });
}

/*
 * This runs for every frame of every message, so the input of the hash is written in one piece: the
 * numbers, the lengths of the texts, then the texts. The id is never stored, so its input may
 * change.
 */
static hash128 frame_id(const struct frame *frame, struct buf *scratch)
{
	const str *texts[] = { &frame->type,     &frame->build_id,    &frame->path,
			       &frame->function, &frame->system_name, &frame->file };
	uint64_t head[3 + ARRAY_LEN(texts)] = {
		frame->address,
		(uint64_t)frame->line << 32 | frame->start_line,
		frame->inlined,
	};
	size_t len = sizeof(head);

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		head[3 + i] = texts[i]->len;
		len += texts[i]->len;
	}
	scratch->len = 0;

	char *at = buf_reserve(scratch, len);

	memcpy(at, head, sizeof(head));
	at += sizeof(head);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (texts[i]->len)
			memcpy(at, texts[i]->ptr, texts[i]->len);
		at += texts[i]->len;
	}
	scratch->len = len;
	return hash_128(buf_bytes(scratch));
}

uint32_t sample_set_frame(struct sample_set *set, const struct frame *frame)
{
	hash128 id = frame_id(frame, &set->scratch);
	uint32_t *slot = AT(set, &set->frame_index, set->frame_ids, id);

	if (*slot)
		return *slot - 1;
	*vec_push(set->arena, &set->frames) = *frame;
	*vec_push(set->arena, &set->frame_ids) = id;
	*slot = (uint32_t)set->frames.len;
	return *slot - 1;
}

/* The hash of the ids of its frames, so that it is the same in every set. */
static hash128 stack_id(struct sample_set *set, const uint32_t *frames, size_t len)
{
	struct buf *scratch = &set->scratch;

	scratch->len = 0;

	char *at = buf_reserve(scratch, len * sizeof(hash128));

	for (size_t i = 0; i < len; i++, at += sizeof(hash128))
		memcpy(at, &set->frame_ids.items[frames[i]], sizeof(hash128));
	scratch->len = len * sizeof(hash128);
	return hash_128(buf_bytes(scratch));
}

/* Add a stack that is not in the set; returns its index + 1. */
static uint32_t stack_push(struct sample_set *set, const uint32_t *frames, size_t len, hash128 id)
{
	*vec_push(set->arena, &set->stacks) = (struct stack){ frames, len };
	*vec_push(set->arena, &set->stack_ids) = id;
	return (uint32_t)set->stacks.len;
}

uint32_t sample_set_stack(struct sample_set *set, const uint32_t *frames, size_t len)
{
	hash128 id = stack_id(set, frames, len);
	uint32_t *slot = AT(set, &set->stack_index, set->stack_ids, id);

	if (*slot)
		return *slot - 1;

	uint32_t *copy = arena_array(set->arena, uint32_t, len);

	if (len)
		memcpy(copy, frames, len * sizeof(*frames));
	*slot = stack_push(set, copy, len, id);
	return *slot - 1;
}

uint32_t sample_set_labels(struct sample_set *set, struct labels labels)
{
	hash_labels(labels, &set->scratch);

	hash128 id = hash_128(buf_bytes(&set->scratch));
	uint32_t *slot = AT(set, &set->label_set_index, set->label_set_ids, id);

	if (*slot)
		return *slot - 1;
	*vec_push(set->arena, &set->label_sets) = labels;
	*vec_push(set->arena, &set->label_set_ids) = id;
	*slot = (uint32_t)set->label_sets.len;
	return *slot - 1;
}

/* A series keeps its first period that is not 0. */
uint32_t sample_set_series(struct sample_set *set, str type, struct labels labels, uint64_t period)
{
	struct buf *scratch = &set->scratch;

	scratch->len = 0;
	buf_str_prefixed(scratch, type);
	labels_hash_input(labels, scratch);

	hash128 id = hash_128(buf_bytes(scratch));
	uint64_t stored_id = hash_64(buf_bytes(scratch));
	uint32_t *slot = AT(set, &set->series_index, set->series_ids, id);

	if (*slot) {
		struct series *series = &set->series.items[*slot - 1];

		series->period = series->period ? series->period : period;
		return *slot - 1;
	}
	*vec_push(set->arena, &set->series) = (struct series){
		.id = stored_id,
		.type = type,
		.labels = labels,
		.period = period,
	};
	*vec_push(set->arena, &set->series_ids) = id;
	*slot = (uint32_t)set->series.len;
	return *slot - 1;
}

void sample_set_add(struct sample_set *set, struct sample sample)
{
	assert(sample.series < set->series.len && sample.stack < set->stacks.len &&
	       sample.labels < set->label_sets.len);
	*vec_push(set->arena, &set->samples) = sample;
}

void sample_set_reserve(struct sample_set *set, size_t frames, size_t stacks, size_t samples)
{
	vec_reserve(set->arena, &set->frames, frames);
	vec_reserve(set->arena, &set->frame_ids, frames);
	index_reserve(set->arena, &set->frame_index, frames);
	vec_reserve(set->arena, &set->stacks, stacks);
	vec_reserve(set->arena, &set->stack_ids, stacks);
	index_reserve(set->arena, &set->stack_index, stacks);
	vec_reserve(set->arena, &set->samples, samples);
}

hash128 sample_set_stack_id(const struct sample_set *set, uint32_t stack)
{
	return set->stack_ids.items[stack];
}

/*
 * Merging. One table for each kind of item maps an index of `from` to the index in `into`, plus 1.
 * So each series, stack, frame and label set is looked up and copied once, not once per sample.
 */
void sample_merge_begin(struct sample_merge *merge, struct sample_set *into,
			const struct sample_set *from)
{
	assert(into != from);
	*merge = (struct sample_merge){ .into = into, .from = from };
	merge->series = arena_array(&merge->scratch, uint32_t, from->series.len);
	merge->stacks = arena_array(&merge->scratch, uint32_t, from->stacks.len);
	merge->labels = arena_array(&merge->scratch, uint32_t, from->label_sets.len);
	merge->frames = arena_array(&merge->scratch, uint32_t, from->frames.len);
}

void sample_merge_end(struct sample_merge *merge)
{
	arena_free(&merge->scratch);
}

static uint32_t merge_frame(struct sample_merge *merge, uint32_t index)
{
	struct sample_set *into = merge->into;

	if (merge->frames[index])
		return merge->frames[index] - 1;

	struct frame frame = merge->from->frames.items[index];
	hash128 id = merge->from->frame_ids.items[index];
	uint32_t *slot = AT(into, &into->frame_index, into->frame_ids, id);

	if (!*slot) {
		str *texts[] = { &frame.type,     &frame.build_id,    &frame.path,
				 &frame.function, &frame.system_name, &frame.file };

		for (size_t i = 0; i < ARRAY_LEN(texts); i++)
			*texts[i] = str_copy(into->arena, *texts[i]);
		*vec_push(into->arena, &into->frames) = frame;
		*vec_push(into->arena, &into->frame_ids) = id;
		*slot = (uint32_t)into->frames.len;
	}
	merge->frames[index] = *slot;
	return *slot - 1;
}

/* The id of a stack is the same in every set, so only the frames of new stacks are merged. */
uint32_t sample_merge_stack(struct sample_merge *merge, uint32_t index)
{
	struct sample_set *into = merge->into;

	if (merge->stacks[index])
		return merge->stacks[index] - 1;

	hash128 id = merge->from->stack_ids.items[index];
	uint32_t *slot = AT(into, &into->stack_index, into->stack_ids, id);

	if (!*slot) {
		struct stack stack = merge->from->stacks.items[index];
		uint32_t *frames = arena_array(into->arena, uint32_t, stack.len);

		for (size_t i = 0; i < stack.len; i++)
			frames[i] = merge_frame(merge, stack.frames[i]);
		*slot = stack_push(into, frames, stack.len, id);
	}
	merge->stacks[index] = *slot;
	return *slot - 1;
}

static uint32_t merge_labels(struct sample_merge *merge, uint32_t index)
{
	struct sample_set *into = merge->into;

	if (merge->labels[index])
		return merge->labels[index] - 1;

	size_t before = into->label_sets.len;
	uint32_t merged = sample_set_labels(into, merge->from->label_sets.items[index]);

	if (into->label_sets.len > before)
		into->label_sets.items[merged] =
			labels_copy(into->arena, into->label_sets.items[merged]);
	merge->labels[index] = merged + 1;
	return merged;
}

static uint32_t merge_series(struct sample_merge *merge, uint32_t index)
{
	struct sample_set *into = merge->into;

	if (merge->series[index])
		return merge->series[index] - 1;

	const struct series *series = &merge->from->series.items[index];
	size_t before = into->series.len;
	uint32_t merged = sample_set_series(into, series->type, series->labels, series->period);

	if (into->series.len > before) {
		into->series.items[merged].type = str_copy(into->arena, series->type);
		into->series.items[merged].labels = labels_copy(into->arena, series->labels);
	}
	merge->series[index] = merged + 1;
	return merged;
}

void sample_set_merge(struct sample_set *into, const struct sample_set *from,
		      const struct sample_filter *filter)
{
	struct sample_merge merge;

	sample_merge_begin(&merge, into, from);
	for (size_t i = 0; i < from->samples.len; i++) {
		struct sample sample = from->samples.items[i];

		if (filter && filter->keep && !filter->keep(filter->self, from, &sample))
			continue;
		sample.series = merge_series(&merge, sample.series);
		sample.stack = sample_merge_stack(&merge, sample.stack);
		sample.labels = merge_labels(&merge, sample.labels);
		sample_set_add(into, sample);
	}
	sample_merge_end(&merge);
}
