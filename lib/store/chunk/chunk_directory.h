// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_directory - a summary of a row, stored beside its payload and read before it. Pure.
 *
 * It holds, for each series, the sample count, the sum of the values, and the first and last time;
 * the names of the samples' own labels; and where the slices are. A reader can skip the payload, or
 * fetch only the slices with its series.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"
#include "store/chunk/chunk_format_internal.h"

struct directory_series {
	uint64_t id, count;
	int64_t sum; /* of the values; wraps */
	uint64_t first_ms, last_ms;
};

struct chunk_directory {
	const struct directory_series *series; /* sorted by id */
	size_t series_count;
	const str *names; /* names of the samples' own labels, sorted */
	size_t name_count;
	struct chunk_layout layout; /* no slices: the row must be read whole */
};

/* The directory of a set's samples, without slices. Texts are borrowed from the set. */
struct chunk_directory chunk_directory_of(const struct sample_set *set, struct arena *arena);

str chunk_directory_write(const struct chunk_directory *directory, struct arena *arena);

/* Names are borrowed from `bytes`; arrays live in the arena. ERR_INVALID: malformed. */
bool chunk_directory_read(str bytes, struct chunk_directory *ret_directory, struct arena *arena,
			  struct err *err) MUST_CHECK;
