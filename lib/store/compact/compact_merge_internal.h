// SPDX-License-Identifier: Apache-2.0
/*
 * compact_merge - groups the samples of raw rows of one bucket by their hour. Pure.
 *
 *     struct compact_merge merge = { .arena = &arena };
 *     if (!compact_merge_add(&merge, &row, err))
 *             ... the row is corrupt and merge undefined: start again without the row
 *     compact_merge_end(&merge);
 *     for (size_t i = 0; i < merge.hours.len; i++)
 *             chunk_rows_make(&merge.hours.items[i].set, ...);
 */
#pragma once

#include "store/compact/compact_row_internal.h"

struct compact_hour {
	uint64_t start_ms;
	struct sample_set set; /* its series have ids and types, but no labels */
};

struct compact_merge {
	struct arena *arena;
	VEC(struct compact_hour) hours; /* in the order of first use */
	uint64_t samples;
};

/* ERR_INVALID: the row is corrupt, or its samples contradict its columns. */
bool compact_merge_add(struct compact_merge *merge, const struct compact_row *row,
		       struct err *err) MUST_CHECK;
void compact_merge_end(struct compact_merge *merge);
