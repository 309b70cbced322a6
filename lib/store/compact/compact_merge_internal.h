// SPDX-License-Identifier: Apache-2.0
/*
 * compact_merge - groups the samples of raw rows of one bucket by their hour. No I/O.
 *
 *     struct compact_merge merge = { .arena = &arena };
 *     if (!compact_merge_add(&merge, &row, err))
 *             ... the row is corrupt and `merge` undefined: start again without the row
 *     compact_merge_end(&merge);
 *     for (size_t i = 0; i < merge.hours.len; i++)
 *             chunk_rows_make(&merge.hours.items[i].set, ...);
 */
#pragma once

#include "store/compact/compact_row_internal.h"

struct compact_hour {
	uint64_t start_ms;     /* Unix ms */
	struct sample_set set; /* its series have ids and types, but no labels */
};

struct compact_merge {
	struct arena *arena;            /* of the caller: memory of everything below */
	VEC(struct compact_hour) hours; /* in the order of first use */
	uint64_t samples;               /* samples added */
};

/*
 * Adds the samples of a row, which is borrowed during the call. ERR_INVALID, the only error: the
 * row is corrupt, or its samples contradict its columns; *merge is then undefined.
 */
bool compact_merge_add(struct compact_merge *merge, const struct compact_row *row,
		       struct err *err) MUST_CHECK;

/* Sets the ids of the series; call it once, after the last row. Cannot fail. */
void compact_merge_end(struct compact_merge *merge);
