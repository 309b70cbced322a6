// SPDX-License-Identifier: Apache-2.0
/*
 * merge - aggregates samples while they are read: (stack, labels grouped by) -> sum of the values.
 *
 * Rows are added one by one and not kept, nor are their times and other labels. Memory grows with
 * the number of distinct stacks and groups, not of samples, and is limited. The result is a
 * sample_set with one series, whose samples are the sums. All memory is the arena's. One thread.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"
#include "querier/merge/gauge_internal.h"
#include "querier/merge/grouping.h"
#include "querier/merge/memory.h"
#include "querier/merge/window.h"

struct merge {
	struct sample_set set; /* the sums: one sample for each stack and group */
	/* By frame: enum name_reason of a frame without symbols. NULL: it was not symbolized. */
	const uint8_t *reasons;
	/* private */
	struct arena *arena;
	const struct group_by *group_by;
	struct gauge *gauge; /* NULL: values add up */
	uint64_t memory_max;
	struct memory_part memory;
	uint32_t
		*slots; /* hash table of samples by (stack, labels): index + 1, at most half full */
	size_t cap;
};

/* `type` and `group_by` must outlive the merge. */
void merge_init(struct merge *merge, str type, const struct group_by *group_by, uint64_t memory_max,
		struct arena *arena);

/* Add the samples of a row; a callback of store_sink. ERR_LIMIT: more than memory_max bytes, or a
 * sum beyond 64 bits. */
bool merge_add_row(void *merge, const struct sample_set *row, struct err *err) MUST_CHECK;

/* Add the sums of another merge, with the same groups. ERR_LIMIT: as merge_add_row(). */
bool merge_combine(struct merge *merge, const struct merge *other, struct err *err) MUST_CHECK;

/*
 * For profile types that are gauges (gauge.h). Call merge_set_gauge() before the first row;
 * merge_observe_row(), a callback of store_sink, for each row before its samples are filtered; and
 * merge_average() after the last row, which replaces the sums by means over the window.
 */
void merge_set_gauge(struct merge *merge);
bool merge_observe_row(void *merge, const struct sample_set *row, struct err *err) MUST_CHECK;
bool merge_average(struct merge *merge, const struct window *window, struct err *err) MUST_CHECK;

/* Add to the sum of a stack and a label set of the merge's own set. ERR_LIMIT: beyond 64 bits. */
bool merge_add(struct merge *merge, uint32_t stack, uint32_t labels, int64_t value,
	       struct err *err) MUST_CHECK;

/* Count this merge towards `memory`: memory_max bounds all parts of it together. */
void merge_share_memory(struct merge *merge, struct memory *memory);

/* Bytes of the merge, of `arena` with a report on it, and of the other parts of its memory. */
size_t merge_memory_used(struct merge *merge, const struct arena *arena);

/* Fails with ERR_LIMIT if merge_memory_used() is more than memory_max. */
bool merge_within_memory(struct merge *merge, const struct arena *arena,
			 struct err *err) MUST_CHECK;

/* Always false: sets the error for more memory than memory_max (ERR_LIMIT). */
bool merge_too_big(const struct merge *merge, struct err *err);

/* Always false: sets the error for a sum beyond 64 bits (ERR_LIMIT). */
bool merge_overflow(struct err *err);
