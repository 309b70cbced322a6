// SPDX-License-Identifier: Apache-2.0
/*
 * store_query - which samples, and what of them is needed.
 */
#pragma once

#include "profile/selector.h"

/* What of samples is needed: the less it is, the less is unpacked. {0}: all of it. */
struct store_needs {
	bool no_stacks; /* they come with the empty stack */
	/* Above 0, with no_stacks: samples of a series and step, cut from the window's start on,
	 * may come as their sum, with the time of the first. */
	uint64_t step_ms;
	/* Samples of a whole hour may come as their sum, with the hour's beginning as their time,
	 * where labels of the series are enough; of gauges, with the times of their profiles and
	 * their pid (rollup_gauge.h). */
	bool no_times;
	bool no_hours; /* so may those of a whole day (UTC) */
	/* Of their own labels those of these names, where the series lacks them: without any that
	 * can be such, samples come with none. */
	bool some_labels;
	const str *label_names;
	size_t label_count;
	bool few_labels; /* of the series', too, none but those is needed */
};

/* Which samples. The window is [start_ms, end_ms). */
struct store_query {
	const struct selector *selector; /* NULL, for series alone: of every type */
	uint64_t start_ms, end_ms;
	struct store_needs needs;
};
