// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_fold - rows of one bucket and hour, summed by series and stack. Pure.
 *
 * Times and the samples' own labels are gone: a sample of the result is the sum of an hour. Gauges
 * are left out: their values must not be added up over time.
 */
#pragma once

#include "store/compact_row.h"

struct rollup_fold {
	uint64_t hour_ms;      /* the time of all that comes of it */
	struct sample_set set; /* after rollup_fold_end() */
	uint64_t samples;      /* that went into it, gauges' too */
};

void rollup_fold_init(struct rollup_fold *fold, uint64_t hour_ms, struct arena *arena);

/* As compact_row_read(). */
bool rollup_fold_add(struct rollup_fold *fold, const struct compact_row *row,
		     struct err *err) MUST_CHECK;
void rollup_fold_end(struct rollup_fold *fold);
