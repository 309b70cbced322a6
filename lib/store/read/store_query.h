// SPDX-License-Identifier: Apache-2.0
/*
 * store_query - which samples a query selects, and which of their columns the caller needs. Values
 * only: everything that a query points to is borrowed by the readers until their call returns.
 */
#pragma once

#include "profile/selector.h"

/*
 * The projection: the reader may leave out or sum up data that the caller does not need, and then
 * reads and decompresses less. {0}: the caller needs everything.
 */
struct store_projection {
	bool no_stacks; /* samples may have the empty stack */
	/* If above 0, together with no_stacks: samples of a series within one step may be replaced
	 * with one sample: their sum, at the time of the first. The first step starts at
	 * steps_start_ms, which is not later than the window. */
	uint64_t steps_start_ms, step_ms;
	/* Samples of a whole hour may be replaced with their sum at the start of the hour, if
	 * labels of the series suffice. Gauges keep the times of their profiles and the label `pid`
	 * ("store/compact/rollup_gauge_internal.h"). */
	bool allows_hourly_sums;
	bool allows_daily_sums; /* samples of a whole day (UTC) may be summed as well */
	/* Of the samples' own labels the caller needs only these names, and only if the series
	 * lacks them. If no such label can exist, samples have no labels of their own. */
	bool limits_sample_labels;
	const str *label_names;
	size_t label_count;
	bool limits_series_labels; /* the caller needs no other labels of the series either */
};

/* The window is [start_ms, end_ms). */
struct store_query {
	const struct selector *selector; /* NULL: every series (series_reader.h only) */
	uint64_t start_ms, end_ms;
	struct store_projection projection;
};
