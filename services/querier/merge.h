// SPDX-License-Identifier: Apache-2.0
/*
 * merge - the answer while it is being read: (stack, labels it is grouped by) to the sum.
 *
 * Rows go in one by one and are forgotten; times and all other labels with them. What is held grows
 * with distinct stacks and groups, not with samples, and ends at a limit. It becomes a sample_set
 * of one series, whose samples are the sums.
 */
#pragma once

#include "base/err.h"
#include "gauge.h"
#include "grouping.h"
#include "memory.h"
#include "profile/sample_set.h"
#include "window.h"

struct merge {
	struct sample_set set; /* what has been merged: one sample for each stack and group */
	/* By frame: enum name_reason of those that nobody could name. NULL: nobody was asked. */
	const uint8_t *reasons;
	/* private */
	struct arena *arena;
	const struct group_by *group_by;
	struct gauge *gauge; /* NULL: values add up */
	uint64_t memory_max;
	struct memory_part memory;
	uint32_t *slots; /* of samples by (stack, labels): index + 1, half full at most */
	size_t cap;
};

/* `type` and `group_by` must outlive the merge. */
void merge_init(struct merge *merge, str type, const struct group_by *group_by, uint64_t memory_max,
		struct arena *arena);

/* A store_sink's take(). ERR_LIMIT: more memory than it may take, or a sum beyond 64 bits. */
bool merge_add_row(void *merge, const struct sample_set *row, struct err *err) MUST_CHECK;

/* What another connection merged. */
bool merge_combine(struct merge *merge, const struct merge *other, struct err *err) MUST_CHECK;

/*
 * For a gauge (gauge.h): to be said before the first row; a store_sink's see(); and when all rows
 * were taken, their sums become means over the window.
 */
void merge_set_gauge(struct merge *merge);
bool merge_observe_row(void *merge, const struct sample_set *row, struct err *err) MUST_CHECK;
bool merge_average(struct merge *merge, const struct window *window, struct err *err) MUST_CHECK;

/* Add to the sum of a stack and a label set of the merge's own set. ERR_LIMIT: beyond 64 bits. */
bool merge_add(struct merge *merge, uint32_t stack, uint32_t labels, int64_t value,
	       struct err *err) MUST_CHECK;

/* One of several that are made at once, and hold at most memory_max together. */
void merge_share_memory(struct merge *merge, struct memory *memory);

/* Bytes of the merge, of what is made of it in `arena`, and of those that share its memory. */
size_t merge_memory_used(struct merge *merge, const struct arena *arena);

/* Whether the merge, and what a report makes of it in `arena`, take no more than they may. */
bool merge_within_memory(struct merge *merge, const struct arena *arena,
			 struct err *err) MUST_CHECK;

/* False: it takes more. */
bool merge_too_big(const struct merge *merge, struct err *err);

/* False: a sum is beyond 64 bits. */
bool merge_overflow(struct err *err);
