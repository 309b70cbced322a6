// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_ranges - which byte ranges of a payload to fetch for a set of series. Pure.
 */
#pragma once

#include "store/chunk/chunk_directory.h"

struct chunk_range {
	size_t at, len; /* bytes of the payload */
};

struct chunk_ranges {
	const struct chunk_range *ranges; /* not adjacent, in order, at least one */
	size_t count;
	size_t slices; /* slices in the ranges; 0: the whole payload */
	size_t len;    /* total bytes of the ranges */
};

/*
 * The ranges of the head and of the slices that contain a series with series[i] true (i: index in
 * the directory). The whole payload if it has no slices, if the ranges are more than three quarters
 * of it, or if the directory does not fit the payload. Ranges live in the arena.
 */
struct chunk_ranges chunk_ranges_choose(const struct chunk_directory *directory, const bool *series,
					size_t payload_len, struct arena *arena);
