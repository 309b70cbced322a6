// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_kind - what sums a row of `rollup` holds. The numbers are stored.
 */
#pragma once

enum rollup_kind {
	ROLLUP_OLD,    /* by series, without gauges: from before there were others */
	ROLLUP_SERIES, /* by series */
	ROLLUP_FLEET,  /* the same sums without the labels that tell instances apart */
	ROLLUP_GAUGES, /* of gauges, by series and process: rollup_gauge.h */
	ROLLUP_KIND_COUNT,
};
