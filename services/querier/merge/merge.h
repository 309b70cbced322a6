// SPDX-License-Identifier: Apache-2.0
/*
 * merge - aggregates samples while they are read: (stack, labels grouped by) -> sum of the values.
 *
 * A row is one sample_set that the store hands over. Rows are added one by one; the rows
 * themselves, times and other labels are not kept. Memory grows with the number of distinct stacks
 * and groups, not of samples, and is limited. The result is a sample_set with one series, whose
 * samples are the sums. All memory is in the arena: nothing must be freed, and copies of texts live
 * as long as the arena. One thread. After ERR_LIMIT the sums are incomplete: the caller drops the
 * merge.
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
	bool (*may_continue)(const void *request, struct err *err); /* NULL: always */
	const void *request;
	unsigned int steps;    /* calls of merge_within_memory() */
	INDEX(uint32_t) index; /* index + 1 of a sample, by (stack, labels) */
};

/* Initialises an empty merge; cannot fail. `type`, `group_by` and `arena` must outlive the merge.
 * memory_max: bytes. */
void merge_init(struct merge *merge, str type, const struct group_by *group_by, uint64_t memory_max,
		struct arena *arena);

/* Adds the samples of a row; a callback of store_sink, `merge` is the struct merge. Copies what it
 * keeps. ERR_LIMIT: more than memory_max bytes, or a sum beyond 64 bits. */
bool merge_add_row(void *merge, const struct sample_set *row, struct err *err) MUST_CHECK;

/* Adds the sums of another merge that has the same groups; `other` is only read. ERR_LIMIT as for
 * merge_add_row(). */
bool merge_combine(struct merge *merge, const struct merge *other, struct err *err) MUST_CHECK;

/* Makes the merge compute means over time, for profile types that are gauges
 * ("querier/merge/gauge_internal.h"). Called before the first row. */
void merge_set_gauge(struct merge *merge);

/* For gauges only: a callback of store_sink, called for each row before its samples are filtered.
 * ERR_LIMIT: more than memory_max bytes. */
bool merge_observe_row(void *merge, const struct sample_set *row, struct err *err) MUST_CHECK;

/* For gauges only, after the last row: replaces the sums by means over the window. ERR_LIMIT: more
 * than memory_max bytes, or a mean beyond 64 bits. */
bool merge_average(struct merge *merge, const struct window *window, struct err *err) MUST_CHECK;

/* Adds `value` to the sum of a stack and a label set, which are indexes in the merge's own set.
 * ERR_LIMIT: the sum is beyond 64 bits. */
bool merge_add(struct merge *merge, uint32_t stack, uint32_t labels, int64_t value,
	       struct err *err) MUST_CHECK;

/* The period of all series; 0: it is unknown, or hosts sample at different frequencies. */
uint64_t merge_period(const struct merge *merge);

/* Counts this merge as a part of `memory`: memory_max then bounds all parts together. `memory` must
 * outlive the merge. Called directly after merge_init(). */
void merge_share_memory(struct merge *merge, struct memory *memory);

/* Makes merge_within_memory() fail when may_continue(request) does: its deadline has passed, or its
 * client has left. `request` must outlive the merge. Called directly after merge_init(). */
void merge_set_bounds(struct merge *merge,
		      bool (*may_continue)(const void *request, struct err *err),
		      const void *request);

/* The error of may_continue(), which merge_set_bounds() set. */
bool merge_may_continue(const struct merge *merge, struct err *err) MUST_CHECK;

/* Reports the bytes of the merge and of `arena`, in which the caller writes a report. Returns the
 * bytes of all parts of the shared memory. */
size_t merge_memory_used(struct merge *merge, const struct arena *arena);

/* Called in each loop that makes a response. Fails with ERR_LIMIT if merge_memory_used() is more
 * than memory_max; every 256th call also as merge_may_continue(). */
bool merge_within_memory(struct merge *merge, const struct arena *arena,
			 struct err *err) MUST_CHECK;

/* Always false: sets the error for more memory than memory_max (ERR_LIMIT). */
bool merge_too_big(const struct merge *merge, struct err *err);

/* Always false: sets the error for a sum beyond 64 bits (ERR_LIMIT). */
bool merge_overflow(struct err *err);
