// SPDX-License-Identifier: Apache-2.0
/*
 * range - sums over time: (group, step) to the sum of its samples' values, or its mean (gauge.h).
 *
 * Step k is [start + k * step, start + (k + 1) * step), the last one cut off by the window's end.
 * Rows go in one by one; what is held grows with groups and steps that have samples.
 */
#pragma once

#include "base/err.h"
#include "gauge.h"
#include "grouping.h"
#include "memory.h"

struct range_options {
	const struct group_by *sum_by; /* NULL: each series by itself */
	uint64_t start_ms, step_ms;
	uint64_t memory_max;
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
	struct sample_set groups; /* its label sets are the groups */
	VEC(struct range_point) points;
	uint32_t *slots; /* of points by (group, step): index + 1, half full at most */
	size_t cap;
};

/* A group over time; its points are in order. */
struct range_line {
	struct labels labels;
	const struct range_point *points;
	size_t count;
	int64_t sum;
};

struct range_result {
	const struct range_line *lines; /* sorted by labels */
	size_t count;
	size_t left_out; /* lines beyond the limit, the smallest sums */
	int64_t left_out_sum;
};

/* What `options` points to must outlive the range. */
void range_sums_init(struct range_sums *range, const struct range_options *options,
		     struct arena *arena);

/* A store_sink's take(). ERR_LIMIT: more memory than it may take, or a sum beyond 64 bits. */
bool range_sums_add_row(void *range, const struct sample_set *row, struct err *err) MUST_CHECK;

/* For a gauge (gauge.h): to be said before the first row; and a store_sink's see(). */
void range_sums_set_gauge(struct range_sums *range);
bool range_sums_observe_row(void *range, const struct sample_set *row, struct err *err) MUST_CHECK;

/* One of several that are made at once, and hold at most memory_max together; and their sum. */
void range_sums_share_memory(struct range_sums *range, struct memory *memory);
bool range_sums_combine(struct range_sums *range, const struct range_sums *other,
			struct err *err) MUST_CHECK;

/* Keep the `limit` lines with the greatest sums; 0: all. The range can take no more after it. */
bool range_sums_finish(struct range_sums *range, size_t limit, struct range_result *ret_result,
		       struct err *err) MUST_CHECK;

bool range_sums_within_memory(struct range_sums *range, struct err *err) MUST_CHECK;
