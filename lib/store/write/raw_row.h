// SPDX-License-Identifier: Apache-2.0
/*
 * raw_row - a row of `chunk_raw` in binary COPY format: of a flush, or coalesced
 * ("store/compact/compact.h"). No I/O, any thread.
 */
#pragma once

#include "base/buf.h"
#include "store/chunk/chunk_rows.h"

#define RAW_ROW_COPY                                                                     \
	"COPY chunk_raw (arrival, bucket, first_ms, last_ms, late, samples, directory, " \
	"payload, joined) FROM STDIN (FORMAT binary)"

/* The columns that are not derived from the samples. */
struct raw_row {
	uint64_t now_ms; /* Unix ms */
	int32_t bucket;
	bool joined; /* true: a coalesced row */
};

/*
 * Appends the row to `copy`, which postgres_copy_begin() has begun; nothing is borrowed. Returns
 * the row's time of arrival, Unix ms: now_ms, or a later time if the clock was set back. Cannot
 * fail.
 */
uint64_t raw_row_copy(const struct raw_row *raw, const struct chunk_row *row, struct buf *copy);
