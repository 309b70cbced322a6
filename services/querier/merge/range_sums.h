// SPDX-License-Identifier: Apache-2.0
/*
 * range_sums - sums over time: (group, step) -> sum of the samples' values, or their mean
 * ("querier/merge/gauge_internal.h").
 *
 * Step k is [start + k * step, start + (k + 1) * step); the window's end truncates the last one.
 * Rows (sample_sets from the store) are added one by one and not kept. Memory grows with the number
 * of groups and steps that have samples, and is limited. All memory is in the arena: nothing must
 * be freed. One thread. After ERR_LIMIT the sums are incomplete: the caller drops the struct.
 */
#pragma once

#include "base/err.h"
#include "querier/merge/gauge_internal.h"
#include "querier/merge/grouping.h"
#include "querier/merge/memory.h"

struct range_options {
	const struct group_by *sum_by; /* NULL: each series by itself */
	uint64_t start_ms, step_ms;    /* start of step 0 in Unix ms, length of a step */
	uint64_t memory_max;           /* bytes */
	/* As in merge_set_bounds(); observed by range_sums_within_memory(). NULL: none. */
	bool (*may_continue)(const void *request, struct err *err);
	const void *request;
};

struct range_point {
	uint32_t group, step;
	int64_t sum;
};

struct range_sums {
	/* private */
	struct range_options options;
	struct gauge *gauge; /* NULL: values add up */
	struct memory_part memory;
	unsigned int steps;       /* calls of range_sums_within_memory() */
	struct sample_set groups; /* its label sets are the groups */
	VEC(struct range_point) points;
	INDEX(uint32_t) index; /* index + 1 of a point, by (group, step) */
};

/* One group over time; its points are sorted by step. */
struct range_line {
	struct labels labels;
	const struct range_point *points;
	size_t count;
	int64_t sum;
};

struct range_result {
	const struct range_line *lines; /* sorted by labels */
	size_t count;
	size_t left_out; /* number of lines beyond the limit: those with the smallest sums */
	int64_t left_out_sum;
};

/*
 * Initialises; cannot fail. Copies `options`; options->sum_by and the arena must outlive the range.
 */
void range_sums_init(struct range_sums *range, const struct range_options *options,
		     struct arena *arena);

/* Adds the samples of a row; a callback of store_sink, `range` is the struct range_sums. Copies
 * what it keeps. ERR_LIMIT: more than memory_max bytes, or a sum beyond 64 bits. */
bool range_sums_add_row(void *range, const struct sample_set *row, struct err *err) MUST_CHECK;

/* Makes the range compute means, for profile types that are gauges. Called before the first row. */
void range_sums_set_gauge(struct range_sums *range);

/* For gauges only: a callback of store_sink, called for each row before its samples are filtered.
 * ERR_LIMIT: more than memory_max bytes. */
bool range_sums_observe_row(void *range, const struct sample_set *row, struct err *err) MUST_CHECK;

/* Counts this range as a part of `memory`: memory_max then bounds all parts together. `memory` must
 * outlive the range. */
void range_sums_share_memory(struct range_sums *range, struct memory *memory);

/* Adds the sums of another range that has the same options; `other` is only read. ERR_LIMIT as for
 * range_sums_add_row(). */
bool range_sums_combine(struct range_sums *range, const struct range_sums *other,
			struct err *err) MUST_CHECK;

/*
 * Builds the result: the `limit` lines with the greatest sums, or all lines if limit is 0. The
 * result borrows from the range, to which no row can be added afterwards. ERR_LIMIT as for
 * range_sums_add_row().
 */
bool range_sums_finish(struct range_sums *range, size_t limit, struct range_result *ret_result,
		       struct err *err) MUST_CHECK;

/* Fails with ERR_LIMIT if the range, or all parts of its memory, use more than memory_max. */
bool range_sums_within_memory(struct range_sums *range, struct err *err) MUST_CHECK;
