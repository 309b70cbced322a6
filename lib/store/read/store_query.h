// SPDX-License-Identifier: Apache-2.0
/*
 * store_query - which samples a query selects, and which of their columns the caller needs. Values
 * only: everything that a query points to is borrowed by the readers until their call returns.
 */
#pragma once

#include "profile/selector.h"

/*
 * What the caller needs of the samples. The reader may leave out or sum up the rest, and then reads
 * and decompresses less. "Labels" are those that the projection names; a sample has them itself
 * only if its series lacks them. Samples of gauges keep the times of their profiles and the label
 * `pid` at every level ("store/compact/rollup_gauge_internal.h").
 *
 *     level              stacks   labels of series   samples may be replaced with sums of
 *     STORE_SAMPLES      yes      all, and own       nothing
 *     STORE_STACKS       yes      named              whole hours and days (UTC)
 *     STORE_SERIES_SUMS  no       all                a series: its samples within one step
 *     STORE_LABEL_SUMS   no       named              a series: its samples within one step
 *
 * A sum is at the time of its first sample, or at the start of its hour or day.
 */
enum store_level {
	STORE_SAMPLES,
	STORE_STACKS,
	STORE_SERIES_SUMS,
	STORE_LABEL_SUMS,
	STORE_LEVEL_COUNT,
};

/* {0}: the caller needs everything. */
struct store_projection {
	enum store_level level;
	const str *label_names; /* not for STORE_SAMPLES */
	size_t label_count;
	/* Of the levels with steps: the start of the first step, not later than the window, and the
	 * length of a step, not 0. */
	uint64_t steps_start_ms, step_ms;
};

/* The window is [start_ms, end_ms). */
struct store_query {
	const struct selector *selector; /* NULL: every series (series_reader.h only) */
	uint64_t start_ms, end_ms;
	struct store_projection projection;
};
