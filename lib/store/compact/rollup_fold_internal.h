// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_fold - sums rows of one bucket and hour by series and stack. Pure.
 *
 * Times and the samples' own labels are removed: a sample of the result is the sum of an hour.
 * Gauges are separate, since their values must not be added up over time (rollup_gauge.h).
 */
#pragma once

#include "store/compact/compact_row_internal.h"

struct rollup_fold {
	uint64_t hour_ms;               /* time of all sums */
	struct sample_set sums, gauges; /* after rollup_fold_end() */
	uint64_t samples;               /* samples read */
	size_t next;                    /* private: number of sums that triggers the next summing */
};

void rollup_fold_init(struct rollup_fold *fold, uint64_t hour_ms, struct arena *arena);

/* Fails as compact_row_read() does. */
bool rollup_fold_add(struct rollup_fold *fold, const struct compact_row *row,
		     struct err *err) MUST_CHECK;
void rollup_fold_end(struct rollup_fold *fold);
