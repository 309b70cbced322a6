// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_directory - what stands in a row, said before its payload is read.
 *
 * Series with how many samples, their sum, their first and last time; the names of sample labels;
 * and where the slices lie that have the series. A reader that wants none of it leaves the payload
 * alone, and one that wants little takes those slices.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"
#include "store/chunk_format.h"

struct directory_series {
	uint64_t id, count;
	int64_t sum; /* of the values; wraps */
	uint64_t first_ms, last_ms;
};

struct chunk_directory {
	const struct directory_series *series; /* by id */
	size_t series_count;
	const str *names; /* of sample labels, sorted */
	size_t name_count;
	struct chunk_layout layout; /* no slices: the row is read whole */
};

/* Of the samples of a set, without slices. Texts are borrowed from it. */
struct chunk_directory chunk_directory_of(const struct sample_set *set, struct arena *arena);

str chunk_directory_write(const struct chunk_directory *directory, struct arena *arena);

/* Names are borrowed from the bytes. */
bool chunk_directory_read(str bytes, struct chunk_directory *ret_directory, struct arena *arena,
			  struct err *err) MUST_CHECK;
