// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_kind - what sums a row of `rollup` holds. The numbers are stored.
 */
#pragma once

enum rollup_kind {
	ROLLUP_ALONE,  /* by series; no other row holds the same sums */
	ROLLUP_SERIES, /* by series; ROLLUP_FLEET rows of the bucket and hour hold the same sums */
	ROLLUP_FLEET,  /* without the labels that tell instances apart: rollup_fleet.h */
	ROLLUP_GAUGES, /* of gauges, by series and process: rollup_gauge.h */
	ROLLUP_DAY,    /* as ROLLUP_FLEET, of a whole day: what ALONE and FLEET rows hold */
	ROLLUP_KIND_COUNT,
};
