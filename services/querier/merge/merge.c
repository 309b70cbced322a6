// SPDX-License-Identifier: Apache-2.0
#include "querier/merge/merge.h"

#include <inttypes.h>

#define PERIOD_DIFFERS UINT64_MAX /* series have different periods */

/* The state while one row is added to the merge. */
struct row_merge {
	struct merge *merge;
	const struct sample_set *row;
	struct sample_merge stacks;
	struct grouping grouping;
};

/* The sum of one stack of the row, in the group of its last sample. */
struct sum {
	int64_t value;
	uint32_t group;
	bool used;
};

void merge_init(struct merge *merge, str type, const struct group_by *group_by, uint64_t memory_max,
		struct arena *arena)
{
	*merge = (struct merge){
		.arena = arena,
		.group_by = group_by,
		.memory_max = memory_max,
	};
	sample_set_init(&merge->set, arena);
	sample_set_series(&merge->set, type, (struct labels){ 0 }, 0);
}

void merge_share_memory(struct merge *merge, struct memory *memory)
{
	merge->memory.total = memory;
}

void merge_set_bounds(struct merge *merge,
		      bool (*may_continue)(const void *request, struct err *err),
		      const void *request)
{
	merge->may_continue = may_continue;
	merge->request = request;
}

bool merge_may_continue(const struct merge *merge, struct err *err)
{
	return !merge->may_continue || merge->may_continue(merge->request, err);
}

bool merge_overflow(struct err *err)
{
	return err_set(err, ERR_LIMIT, "a sum exceeds 64 bits: ask for less time");
}

bool merge_too_big(const struct merge *merge, struct err *err)
{
	return err_set(err, ERR_LIMIT,
		       "the response needs more than %" PRIu64
		       " bytes of memory: ask for less time, fewer labels or fewer series, or "
		       "raise --query-memory-limit",
		       merge->memory_max);
}

size_t merge_memory_used(struct merge *merge, const struct arena *arena)
{
	return memory_update(&merge->memory,
			     merge->arena->size + (arena == merge->arena ? 0 : arena->size));
}

bool merge_within_memory(struct merge *merge, const struct arena *arena, struct err *err)
{
	enum { STEPS = 256 }; /* reading the clock costs more than a step */

	if (merge_memory_used(merge, arena) > merge->memory_max)
		return merge_too_big(merge, err);
	return ++merge->steps % STEPS || merge_may_continue(merge, err);
}

bool merge_add(struct merge *merge, uint32_t stack, uint32_t labels, int64_t value, struct err *err)
{
	/* Fibonacci hashing: the indexes are small and dense. */
	uint64_t key = (uint64_t)labels << 32 | stack;
	const struct sample *sums = merge->set.samples.items;
	uint32_t *slot =
		index_at(merge->arena, &merge->index, key * UINT64_C(0x9e3779b97f4a7c15) >> 32,
			 each, sums[each - 1].stack == stack && sums[each - 1].labels == labels);

	if (*slot == 0) {
		sample_set_add(&merge->set, (struct sample){ .stack = stack, .labels = labels });
		*slot = (uint32_t)merge->set.samples.len;
	}

	struct sample *sum = &merge->set.samples.items[*slot - 1];

	if (__builtin_add_overflow(sum->value, value, &sum->value))
		return merge_overflow(err);
	return true;
}

/* Add a sum of the row to the merge and reset it to 0. */
static bool add_sum(struct row_merge *row_merge, uint32_t stack, struct sum *sum, struct err *err)
{
	struct merge *merge = row_merge->merge;

	if (!merge_add(merge, sample_merge_stack(&row_merge->stacks, stack), sum->group, sum->value,
		       err))
		return false;
	sum->value = 0;
	return merge_within_memory(merge, merge->arena, err);
}

/*
 * A row has many samples with the same stack, mostly in one group. They are added up by stack
 * first, so that one lookup in the merge's hash table serves many samples.
 */
static bool add_samples(struct row_merge *row_merge, struct err *err)
{
	const struct sample_set *row = row_merge->row;
	struct sum *sums = arena_array(&row_merge->stacks.scratch, struct sum, row->stacks.len);

	for (size_t i = 0; i < row->samples.len; i++) {
		const struct sample *sample = &row->samples.items[i];
		struct sum *sum = &sums[sample->stack];
		uint32_t group = grouping_of(&row_merge->grouping, sample);

		if (sum->used && sum->group != group &&
		    !add_sum(row_merge, sample->stack, sum, err))
			return false;
		sum->group = group;
		sum->used = true;
		if (__builtin_add_overflow(sum->value, sample->value, &sum->value))
			return merge_overflow(err);
	}
	for (size_t i = 0; i < row->stacks.len; i++)
		if (sums[i].used && !add_sum(row_merge, (uint32_t)i, &sums[i], err))
			return false;
	return true;
}

/* 0: none is known yet. PERIOD_DIFFERS stays, whatever follows. */
static uint64_t period_common(uint64_t sum, uint64_t other)
{
	if (!other || sum == other)
		return sum;
	return sum ? PERIOD_DIFFERS : other;
}

uint64_t merge_period(const struct merge *merge)
{
	uint64_t period = merge->set.series.items[0].period;

	return period == PERIOD_DIFFERS ? 0 : period;
}

static bool add_row(struct merge *merge, const struct sample_set *row,
		    enum grouping_sources sources, struct err *err)
{
	struct series *sum = &merge->set.series.items[0];
	struct row_merge row_merge = {
		.merge = merge,
		.grouping = { .into = &merge->set,
			      .by = merge->group_by,
			      .sources = merge->gauge ? sources : GROUPING_NO_SOURCES },
		.row = row,
	};

	for (size_t i = 0; i < row->series.len; i++)
		sum->period = period_common(sum->period, row->series.items[i].period);
	sample_merge_begin(&row_merge.stacks, &merge->set, row);
	grouping_begin(&row_merge.grouping, row, &row_merge.stacks.scratch);

	bool added = add_samples(&row_merge, err);

	sample_merge_end(&row_merge.stacks);
	return added;
}

bool merge_add_row(void *self, const struct sample_set *row, struct err *err)
{
	return add_row(self, row, GROUPING_SOURCES, err);
}

bool merge_combine(struct merge *merge, const struct merge *other, struct err *err)
{
	if (merge->gauge)
		gauge_combine(merge->gauge, other->gauge);
	return other->set.samples.len == 0 ||
	       add_row(merge, &other->set, GROUPING_SOURCES_KEPT, err);
}

void merge_set_gauge(struct merge *merge)
{
	merge->gauge = gauge_new(merge->arena);
}

bool merge_observe_row(void *self, const struct sample_set *row, struct err *err)
{
	struct merge *merge = self;

	gauge_observe(merge->gauge, row);
	return merge_within_memory(merge, merge->arena, err);
}

bool merge_average(struct merge *merge, const struct window *window, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct sample_set *set = &merge->set;
	const struct grouping_origin *origins = grouping_origins(set, merge->gauge, &scratch);
	size_t count = set->samples.len;
	struct gauge_sum *sums = arena_array(&scratch, struct gauge_sum, count);

	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &set->samples.items[i];
		const struct grouping_origin *origin = &origins[sample->labels];

		sums[i] = (struct gauge_sum){ .source = origin->source,
					      .key = (uint64_t)sample->stack << 32 | origin->group,
					      .value = sample->value };
	}
	gauge_sort_times(merge->gauge);
	if (!merge_within_memory(merge, &scratch, err) ||
	    !gauge_average(merge->gauge, sums, &count, window->start_ms, window->end_ms, err))
		return false;
	set->samples.len = 0;
	index_clear(&merge->index);
	for (size_t i = 0; i < count; i++)
		if (!merge_add(merge, (uint32_t)(sums[i].key >> 32), (uint32_t)sums[i].key,
			       sums[i].value, err))
			return false;
	return true;
}
