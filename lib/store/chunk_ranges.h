// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_ranges - which bytes of a stored row are worth reading. Pure.
 */
#pragma once

#include "store/chunk_directory.h"

struct chunk_range {
	size_t at, len; /* bytes of the payload */
};

struct chunk_ranges {
	const struct chunk_range *ranges; /* apart from each other, in their order; one at least */
	size_t count;
	size_t slices; /* that are in them; 0: the whole row */
	size_t len;    /* of all ranges */
};

/*
 * The head and the slices that have one of these series (by the directory's index), or the whole
 * row where it has no slices, where they are most of it, or where the directory does not fit it.
 */
struct chunk_ranges chunk_ranges_choose(const struct chunk_directory *directory, const bool *series,
					size_t payload_len, struct arena *arena);
