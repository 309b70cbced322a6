// SPDX-License-Identifier: Apache-2.0
/*
 * compact_merge - rows of one bucket as they came, put together by the hour of their samples. Pure.
 *
 *     struct compact_merge merge = { .arena = &arena };
 *     if (!compact_merge_add(&merge, &row, err))
 *             ... the row is damaged: merge holds rubbish now, begin anew without it
 *     compact_merge_end(&merge);
 *     for (size_t i = 0; i < merge.hours.len; i++)
 *             chunk_rows_make(&merge.hours.items[i].set, ...);
 */
#pragma once

#include "store/compact_row.h"

struct compact_hour {
	uint64_t start_ms;
	struct sample_set set; /* its series have ids and types, and not their labels */
};

struct compact_merge {
	struct arena *arena;
	VEC(struct compact_hour) hours; /* in the order they were met */
	uint64_t samples;
};

/* ERR_INVALID: it is damaged, or holds other samples than its columns say. */
bool compact_merge_add(struct compact_merge *merge, const struct compact_row *row,
		       struct err *err) MUST_CHECK;
void compact_merge_end(struct compact_merge *merge);
