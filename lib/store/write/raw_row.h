// SPDX-License-Identifier: Apache-2.0
/*
 * raw_row - a row of `chunk_raw` in binary COPY format: of a flush, or coalesced (compact.h).
 */
#pragma once

#include "base/buf.h"
#include "store/chunk/chunk_rows.h"

#define RAW_ROW_COPY                                                                     \
	"COPY chunk_raw (arrival, bucket, first_ms, last_ms, late, samples, directory, " \
	"payload, joined) FROM STDIN (FORMAT binary)"

/* The columns that do not follow from the samples. */
struct raw_row {
	uint64_t now_ms;
	int32_t bucket;
	bool joined;
};

/* Appends the row to `copy`. Returns its arrival: now, or later if the clock was set back. */
uint64_t raw_row_copy(const struct raw_row *raw, const struct chunk_row *row, struct buf *copy);
