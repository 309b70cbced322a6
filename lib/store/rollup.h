// SPDX-License-Identifier: Apache-2.0
/*
 * rollup - the kinds of sums that a row of `rollup` holds, and how samples are summed. The numbers
 * of the kinds are stored.
 */
#pragma once

#include "profile/sample_set.h"

enum rollup_kind {
	ROLLUP_ALONE,  /* by series; no other row holds the same sums */
	ROLLUP_SERIES, /* by series; ROLLUP_FLEET rows of the bucket and hour hold the same sums */
	ROLLUP_FLEET,  /* without the labels that tell instances apart: rollup_fleet.h */
	ROLLUP_GAUGES, /* of gauges, by series and process: rollup_gauge.h */
	ROLLUP_DAY,    /* as ROLLUP_FLEET, of a whole day: what ALONE and FLEET rows hold */
	ROLLUP_KIND_COUNT,
};

/* In place, sorted by `compare`, which says of two samples that are the same 0; how many are left.
 */
size_t rollup_sum(struct sample *samples, size_t count,
		  int (*compare)(const void *left, const void *right)) MUST_CHECK;
