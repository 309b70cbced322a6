// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_ranges - which byte ranges of a payload to fetch for a set of series. No I/O, any thread.
 */
#pragma once

#include "store/chunk/chunk_directory.h"

struct chunk_range {
	size_t at, len; /* first byte, from 0, and number of bytes of the payload */
};

struct chunk_ranges {
	const struct chunk_range *ranges; /* at least one; ascending, with gaps between them */
	size_t count;
	size_t slices; /* slices in the ranges; 0: the whole payload */
	size_t len;    /* total bytes of the ranges */
};

/*
 * Returns the ranges of the head and of the slices that contain a series with series[i] true (i:
 * index in the directory; one flag per series). Returns the whole payload if the directory has no
 * slices, if no flag is true, if the ranges are more than three quarters of the payload, or if the
 * directory does not fit the payload. The array of ranges lives in the arena. Cannot fail.
 */
struct chunk_ranges chunk_ranges_choose(const struct chunk_directory *directory, const bool *series,
					size_t payload_len, struct arena *arena);
