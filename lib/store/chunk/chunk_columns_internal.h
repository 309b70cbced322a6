// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_columns - verifies and decompresses the columns of a payload, for chunk_decode().
 *
 * The columns of the head are opened first, then the columns of one slice after another
 * ("store/chunk/chunk_format_internal.h"). One thread.
 */
#pragma once

#include "base/err.h"
#include "base/reader.h"
#include "store/chunk/chunk_format_internal.h"

struct chunk_columns {
	struct reader of[CHUNK_COLUMN_COUNT]; /* decompressed bytes; the caller reads from them */
	uint64_t base_ms;
	uint64_t slice_count; /* slices of the whole row, also if the payload lacks some */
	unsigned int version;
	/* private */
	struct reader rest; /* the slices that have not been opened; borrowed from the row */
	uint64_t next, opened_count; /* lowest valid number of the next slice; slices opened */
	uint64_t raw_len;            /* bytes of all columns so far, decompressed */
	unsigned int without;        /* enum chunk_without */
};

/*
 * Decompresses the columns of the head into the arena; overwrites *columns. `row` is borrowed until
 * the last chunk_columns_next(). Columns excluded by `without` (enum chunk_without) stay empty;
 * columns of slices stay empty until chunk_columns_next(). ERR_INVALID: the payload is malformed or
 * corrupt, or exceeds CHUNK_RAW_MAX; *columns is then undefined. There is nothing to close.
 */
bool chunk_columns_open(struct chunk_columns *columns, str row, unsigned int without,
			struct arena *arena, struct err *err) MUST_CHECK;

/*
 * Replaces the columns of the current slice with the columns of the next slice, decompressed into
 * the arena. *ret_open is false after the last slice. ERR_INVALID: the slice is malformed or
 * corrupt, or exceeds CHUNK_RAW_MAX; the columns are then undefined.
 */
bool chunk_columns_next(struct chunk_columns *columns, struct arena *arena, bool *ret_open,
			struct err *err) MUST_CHECK;
