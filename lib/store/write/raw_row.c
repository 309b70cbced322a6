// SPDX-License-Identifier: Apache-2.0
#include "store/write/raw_row.h"

#include "client/postgres_value.h"
#include "store/limits.h"

enum { COLUMNS = 9 };

uint64_t raw_row_copy(const struct raw_row *raw, const struct chunk_row *row, struct buf *copy)
{
	/* Readers rely on AHEAD_MS, even if the clock was set back. */
	uint64_t arrival_ms =
		raw->now_ms + AHEAD_MS >= row->last_ms ? raw->now_ms : row->last_ms - AHEAD_MS;

	postgres_copy_row(copy, COLUMNS);
	postgres_copy_time(copy, arrival_ms);
	postgres_copy_i32(copy, raw->bucket);
	postgres_copy_i64(copy, (int64_t)row->first_ms);
	postgres_copy_i64(copy, (int64_t)row->last_ms);
	postgres_copy_bool(copy, row->first_ms + LATE_MS < arrival_ms);
	postgres_copy_i32(copy, (int32_t)row->set->samples.len);
	postgres_copy_bytes(copy, row->directory);
	postgres_copy_bytes(copy, row->payload);
	postgres_copy_bool(copy, raw->joined);
	return arrival_ms;
}
