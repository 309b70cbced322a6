// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_fold - sums rows of one bucket and hour by series and stack. No I/O.
 *
 * Times and the samples' own labels are removed: a sample of the result is the sum of an hour.
 * Gauges are separate, since their values must not be added up over time
 * ("store/compact/rollup_gauge_internal.h"). One thread per fold; all memory is in the arena of
 * rollup_fold_init().
 */
#pragma once

#include "store/compact/compact_row_internal.h"

struct rollup_fold {
	uint64_t hour_ms;               /* Unix ms: start of the hour, the time of all sums */
	struct sample_set sums, gauges; /* valid after rollup_fold_end() */
	uint64_t samples;               /* samples read */
	size_t next;                    /* private: number of sums that triggers the next summing */
};

/* Overwrites *fold with an empty fold; the arena is borrowed. Cannot fail. */
void rollup_fold_init(struct rollup_fold *fold, uint64_t hour_ms, struct arena *arena);

/*
 * Adds a row, which is borrowed during the call. ERR_INVALID, the only error: the row is corrupt,
 * or its samples contradict its columns; the fold is then unchanged.
 */
bool rollup_fold_add(struct rollup_fold *fold, const struct compact_row *row,
		     struct err *err) MUST_CHECK;

/* Completes `sums` and `gauges`; call it once. Cannot fail. */
void rollup_fold_end(struct rollup_fold *fold);
