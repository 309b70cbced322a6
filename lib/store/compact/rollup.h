// SPDX-License-Identifier: Apache-2.0
/*
 * rollup - the kinds of rows of the table `rollup`, and how equal samples are summed.
 *
 * No I/O, any thread.
 */
#pragma once

#include "profile/sample_set.h"

/* Values of the column `kind`: the numbers are stored. */
enum rollup_kind {
	ROLLUP_ALONE,  /* hourly, by series; no other row has the same samples */
	ROLLUP_SERIES, /* hourly, by series; ROLLUP_FLEET rows repeat the same samples */
	ROLLUP_FLEET,  /* hourly, without the labels that distinguish instances: rollup_fleet.h */
	ROLLUP_GAUGES, /* hourly, of gauges, by series and process: rollup_gauge_internal.h */
	ROLLUP_DAY,    /* daily, without instances: the ALONE and FLEET rows of the day */
	ROLLUP_KIND_COUNT,
};

/*
 * Sorts the samples by `compare` and replaces samples that compare equal with one that has the sum
 * of their values, which wraps at 64 bits. In place; returns the number of samples that remain.
 */
size_t rollup_sum(struct sample *samples, size_t count,
		  int (*compare)(const void *left, const void *right)) MUST_CHECK;
