// SPDX-License-Identifier: Apache-2.0
#include "querier/merge/range_sums.h"

#include <inttypes.h>

void range_sums_init(struct range_sums *range, const struct range_options *options,
		     struct arena *arena)
{
	*range = (struct range_sums){ .options = *options };
	sample_set_init(&range->groups, arena);
}

static struct arena *arena_of(const struct range_sums *range)
{
	return range->groups.arena;
}

bool range_sums_within_memory(struct range_sums *range, struct err *err)
{
	enum { STEPS = 256 }; /* as in merge_within_memory() */
	const struct range_options *options = &range->options;

	if (memory_update(&range->memory, arena_of(range)->size) <= options->memory_max)
		return !options->may_continue || ++range->steps % STEPS ||
		       options->may_continue(options->request, err);
	return err_set(err, ERR_LIMIT,
		       "the response needs more than %" PRIu64
		       " bytes of memory: ask for less time, a longer step or fewer labels, or "
		       "raise --query-memory-limit",
		       range->options.memory_max);
}

static bool add_value(int64_t *sum, int64_t value, struct err *err)
{
	return !__builtin_add_overflow(*sum, value, sum) ||
	       err_set(err, ERR_LIMIT, "a sum exceeds 64 bits: ask for less time");
}

static bool add(struct range_sums *range, uint32_t group, uint32_t step, int64_t value,
		struct err *err)
{
	/* Fibonacci hashing: the numbers are small and dense. */
	uint64_t key = (uint64_t)group << 32 | step;
	const struct range_point *points = range->points.items;
	uint32_t *slot =
		index_at(arena_of(range), &range->index, key * UINT64_C(0x9e3779b97f4a7c15) >> 32,
			 each, points[each - 1].group == group && points[each - 1].step == step);

	if (*slot == 0) {
		*vec_push(arena_of(range), &range->points) =
			(struct range_point){ .group = group, .step = step };
		*slot = (uint32_t)range->points.len;
	}
	return add_value(&range->points.items[*slot - 1].sum, value, err) &&
	       range_sums_within_memory(range, err);
}

/* The sum of consecutive samples of one group and step, which is added to its point at once. */
struct step_sum {
	uint32_t group, step;
	uint64_t begin_ms, end_ms; /* of the step */
	int64_t sum;
};

static struct step_sum step_sum_of(const struct range_sums *range, uint32_t group, uint64_t time_ms)
{
	const struct range_options *options = &range->options;
	uint64_t step = (time_ms - options->start_ms) / options->step_ms;
	uint64_t begin_ms = options->start_ms + step * options->step_ms;

	return (struct step_sum){ .group = group,
				  .step = (uint32_t)step,
				  .begin_ms = begin_ms,
				  .end_ms = begin_ms + options->step_ms };
}

bool range_sums_add_row(void *self, const struct sample_set *row, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct range_sums *range = self;
	struct grouping grouping = { .into = &range->groups,
				     .by = range->options.sum_by,
				     .sources = range->gauge ? GROUPING_SOURCES
							     : GROUPING_NO_SOURCES };
	struct step_sum step_sum = { 0 };

	grouping_begin(&grouping, row, &scratch);
	for (size_t i = 0; i < row->samples.len; i++) {
		const struct sample *sample = &row->samples.items[i];
		uint32_t group = grouping_of(&grouping, sample);

		if (group != step_sum.group || sample->time_ms < step_sum.begin_ms ||
		    sample->time_ms >= step_sum.end_ms) {
			if (step_sum.end_ms &&
			    !add(range, step_sum.group, step_sum.step, step_sum.sum, err))
				return false;
			step_sum = step_sum_of(range, group, sample->time_ms);
		}
		if (!add_value(&step_sum.sum, sample->value, err))
			return false;
	}
	return !step_sum.end_ms || add(range, step_sum.group, step_sum.step, step_sum.sum, err);
}

void range_sums_set_gauge(struct range_sums *range)
{
	range->gauge = gauge_new(arena_of(range));
}

bool range_sums_observe_row(void *self, const struct sample_set *row, struct err *err)
{
	struct range_sums *range = self;

	gauge_observe(range->gauge, row);
	return range_sums_within_memory(range, err);
}

void range_sums_share_memory(struct range_sums *range, struct memory *memory)
{
	range->memory.total = memory;
}

bool range_sums_combine(struct range_sums *range, const struct range_sums *other, struct err *err)
{
	if (range->gauge)
		gauge_combine(range->gauge, other->gauge);
	for (size_t i = 0; i < other->points.len; i++) {
		const struct range_point *point = &other->points.items[i];
		struct labels labels = other->groups.label_sets.items[point->group];

		if (!add(range, grouping_add(&range->groups, labels), point->step, point->sum, err))
			return false;
	}
	return true;
}

static int compare_points(const void *a, const void *b)
{
	const struct range_point *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return (left->step > right->step) - (left->step < right->step);
}

static int compare_sums(const void *a, const void *b)
{
	const struct range_line *left = a, *right = b;

	if (left->sum != right->sum)
		return left->sum > right->sum ? -1 : 1;
	return labels_compare(left->labels, right->labels);
}

static int compare_labels(const void *a, const void *b)
{
	return labels_compare(((const struct range_line *)a)->labels,
			      ((const struct range_line *)b)->labels);
}

static int compare_steps(const void *a, const void *b)
{
	const struct range_point *left = a, *right = b;

	return (left->step > right->step) - (left->step < right->step);
}

/* Replace the points of one step, one per source, by one per group, in `ret_points`. */
static bool average_step(struct range_sums *range, const struct grouping_origin *origins,
			 const struct range_point *points, size_t count,
			 struct range_point *ret_points, size_t *ret_count, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct gauge_sum *sums = arena_array(&scratch, struct gauge_sum, count);
	uint32_t step = points[0].step;
	uint64_t begin_ms = range->options.start_ms + step * range->options.step_ms;

	for (size_t i = 0; i < count; i++)
		sums[i] = (struct gauge_sum){ .source = origins[points[i].group].source,
					      .key = origins[points[i].group].group,
					      .value = points[i].sum };
	if (!gauge_average(range->gauge, sums, &count, begin_ms, begin_ms + range->options.step_ms,
			   err))
		return false;
	for (size_t i = 0; i < count; i++)
		ret_points[i] = (struct range_point){ .group = (uint32_t)sums[i].key,
						      .step = step,
						      .sum = sums[i].value };
	*ret_count = count;
	return range_sums_within_memory(range, err);
}

/* There are not more points afterwards, so they are written in place. */
static bool average_steps(struct range_sums *range, struct err *err)
{
	struct range_point *points = range->points.items;
	size_t len = range->points.len, kept = 0;
	AUTO_ARENA scratch = { 0 };
	const struct grouping_origin *origins =
		grouping_origins(&range->groups, range->gauge, &scratch);

	gauge_sort_times(range->gauge);
	if (len)
		qsort(points, len, sizeof(*points), compare_steps);
	for (size_t i = 0, next; i < len; i = next) {
		size_t count;

		for (next = i; next < len && points[next].step == points[i].step; next++)
			;
		if (!average_step(range, origins, &points[i], next - i, &points[kept], &count, err))
			return false;
		kept += count;
	}
	range->points.len = kept;
	return true;
}

/* Build a line from the adjacent points of each group. */
static bool make_lines(const struct range_sums *range, struct range_line *lines, size_t *ret_count,
		       struct err *err)
{
	size_t count = 0;

	for (size_t i = 0; i < range->points.len; i++) {
		const struct range_point *point = &range->points.items[i];

		if (i == 0 || point->group != point[-1].group)
			lines[count++] = (struct range_line){
				.labels = range->groups.label_sets.items[point->group],
				.points = point,
			};
		lines[count - 1].count++;
		if (!add_value(&lines[count - 1].sum, point->sum, err))
			return false;
	}
	*ret_count = count;
	return true;
}

bool range_sums_finish(struct range_sums *range, size_t limit, struct range_result *ret_result,
		       struct err *err)
{
	if (range->gauge && !average_steps(range, err))
		return false;

	struct range_line *lines =
		arena_array(arena_of(range), struct range_line, range->groups.label_sets.len);
	struct range_result result = { .lines = lines };

	if (range->points.len)
		qsort(range->points.items, range->points.len, sizeof(*range->points.items),
		      compare_points);
	if (!make_lines(range, lines, &result.count, err))
		return false;
	if (limit && result.count > limit) {
		qsort(lines, result.count, sizeof(*lines), compare_sums);
		for (size_t i = limit; i < result.count; i++)
			if (!add_value(&result.left_out_sum, lines[i].sum, err))
				return false;
		result.left_out = result.count - limit;
		result.count = limit;
	}
	if (result.count)
		qsort(lines, result.count, sizeof(*lines), compare_labels);
	*ret_result = result;
	return range_sums_within_memory(range, err);
}
