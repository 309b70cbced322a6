// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_rows - splits the samples of one bucket into rows within the limits of a row. No I/O, any
 * thread.
 */
#pragma once

#include "profile/sample_set.h"

/* The content of a row. All of it is valid until put() returns. */
struct chunk_row {
	const struct sample_set *set; /* its samples */
	uint64_t first_ms, last_ms;   /* of its samples, inclusive */
	str directory, payload;
};

/* Receives the rows; put() cannot fail. */
struct chunk_row_sink {
	void (*put)(void *self, const struct chunk_row *row);
	void *self;
};

/*
 * Calls sink->put() for each row, in order. Rows are as few as ROW_*_MAX allow: samples that exceed
 * a limit together are halved until they fit. Samples keep their order: to split by time, sort the
 * samples by time first. level: zstd's compression level. The memory of all rows is in `scratch`,
 * which the caller resets or frees afterwards. Cannot fail.
 */
void chunk_rows_make(const struct sample_set *set, int level, struct arena *scratch,
		     const struct chunk_row_sink *sink);
