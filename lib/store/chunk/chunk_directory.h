// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_directory - a summary of a row, stored beside its payload and read before the payload.
 *
 * A directory has, for each series, the sample count, the sum of the values, and the first and last
 * time; the names of the samples' own labels; and the places of the slices. With the directory a
 * reader can skip the payload, or fetch only the slices that contain the wanted series. No I/O, any
 * thread.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"
#include "store/chunk/chunk_format_internal.h"

struct directory_series {
	uint64_t id, count;
	int64_t sum;                /* of the values; wraps at 64 bits */
	uint64_t first_ms, last_ms; /* Unix ms of the first and last sample, inclusive */
};

struct chunk_directory {
	const struct directory_series *series; /* sorted by id */
	size_t series_count;
	const str *names; /* names of the samples' own labels, sorted */
	size_t name_count;
	struct chunk_layout layout; /* slice_count 0: the row must be read whole */
};

/*
 * Summarizes the samples of a set; the caller sets `layout` afterwards (here: no slices). Names are
 * borrowed from the set; arrays live in the arena. Cannot fail.
 */
struct chunk_directory chunk_directory_of(const struct sample_set *set, struct arena *arena);

/* Encodes the directory; the text lives in the arena. Cannot fail. */
str chunk_directory_write(const struct chunk_directory *directory, struct arena *arena);

/*
 * Decodes a directory. Names are borrowed from `bytes`; arrays live in the arena. ERR_INVALID, the
 * only error: the bytes are malformed; *ret_directory is then unchanged.
 */
bool chunk_directory_read(str bytes, struct chunk_directory *ret_directory, struct arena *arena,
			  struct err *err) MUST_CHECK;
