// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_rows - samples of one bucket, cut into rows that a reader takes. Pure.
 */
#pragma once

#include "profile/sample_set.h"

/* A row as it is stored: all but where and when. Lives until put() returns. */
struct chunk_row {
	const struct sample_set *set; /* what is in it */
	uint64_t first_ms, last_ms;   /* of its samples */
	str directory, payload;
};

struct chunk_row_sink {
	void (*put)(void *self, const struct chunk_row *row);
	void *self;
};

/*
 * As few rows as ROW_*_MAX allow, but for halves of what did not fit. level: zstd's. Samples are
 * taken in the order they have: where they must be cut, sort them by time first.
 */
void chunk_rows_make(const struct sample_set *set, int level, struct arena *scratch,
		     const struct chunk_row_sink *sink);
