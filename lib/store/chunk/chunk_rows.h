// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_rows - splits the samples of one bucket into rows within the limits of a row. Pure.
 */
#pragma once

#include "profile/sample_set.h"

/* The content of a row. Lives until put() returns. */
struct chunk_row {
	const struct sample_set *set; /* its samples */
	uint64_t first_ms, last_ms;   /* of its samples */
	str directory, payload;
};

struct chunk_row_sink {
	void (*put)(void *self, const struct chunk_row *row);
	void *self;
};

/*
 * Writes as few rows as ROW_*_MAX allow; samples that exceed a limit together are halved until they
 * fit. Samples keep their order: to split by time, sort them by time first. level: zstd's.
 */
void chunk_rows_make(const struct sample_set *set, int level, struct arena *scratch,
		     const struct chunk_row_sink *sink);
