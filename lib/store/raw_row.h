// SPDX-License-Identifier: Apache-2.0
/*
 * raw_row - a row of `chunk_raw` as COPY wants it: of a flush, or joined of others (compact.h).
 */
#pragma once

#include "base/buf.h"
#include "store/chunk_rows.h"

#define RAW_ROW_COPY                                                                     \
	"COPY chunk_raw (arrival, bucket, first_ms, last_ms, late, samples, directory, " \
	"payload, joined) FROM STDIN (FORMAT binary)"

/* Where and when: not what was in it before. */
struct raw_row {
	uint64_t now_ms;
	int32_t bucket;
	bool joined;
};

/* Its arrival: now, or later if our clock was set back. */
uint64_t raw_row_copy(const struct raw_row *raw, const struct chunk_row *row, struct buf *copy);
