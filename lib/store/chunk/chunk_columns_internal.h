// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_columns - verifies and decompresses the columns of a payload; for the decoder only.
 */
#pragma once

#include "base/err.h"
#include "base/reader.h"
#include "store/chunk/chunk_format_internal.h"

struct chunk_columns {
	struct reader of[CHUNK_COLUMN_COUNT];
	uint64_t base_ms;
	uint64_t slice_count; /* of the row as it was written */
	unsigned int version;
	/* private */
	struct reader rest;          /* the slices that have not been opened */
	uint64_t next, opened_count; /* lowest valid number of the next slice; slices opened */
	uint64_t raw_len;            /* bytes of all columns so far, decompressed */
	unsigned int without;
};

/*
 * Decompresses the shared columns into the arena. Columns excluded by `without` (enum
 * chunk_without) stay empty; columns of slices stay empty until chunk_columns_next(). ERR_INVALID:
 * the payload is malformed or corrupt, or exceeds CHUNK_RAW_MAX.
 */
bool chunk_columns_open(struct chunk_columns *columns, str row, unsigned int without,
			struct arena *arena, struct err *err) MUST_CHECK;

/*
 * Replaces the columns of the last slice with those of the next one. *ret_open is false after the
 * last slice. ERR_INVALID as above.
 */
bool chunk_columns_next(struct chunk_columns *columns, struct arena *arena, bool *ret_open,
			struct err *err) MUST_CHECK;
