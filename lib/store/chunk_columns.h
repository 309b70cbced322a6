// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_columns - a row's columns, checked and unpacked: for who decodes it alone.
 */
#pragma once

#include "base/err.h"
#include "base/reader.h"
#include "store/chunk_format.h"

struct chunk_columns {
	struct reader of[CHUNK_COLUMN_COUNT];
	uint64_t base_ms;
	uint64_t slice_count; /* of the row */
	unsigned int version;
	/* private */
	struct reader rest;   /* slices that are not open yet */
	uint64_t next, given; /* the least number the next slice may have; how many were open */
	uint64_t raw_len;     /* of all columns so far */
	unsigned int without;
};

/*
 * The shared columns are unpacked into the arena. Columns that are not needed `without` stay empty,
 * and so do those of slices until chunk_columns_next().
 */
bool chunk_columns_open(struct chunk_columns *columns, str row, unsigned int without,
			struct arena *arena, struct err *err) MUST_CHECK;

/* The columns of the next slice, in place of the last one's. *ret_open false: there is none. */
bool chunk_columns_next(struct chunk_columns *columns, struct arena *arena, bool *ret_open,
			struct err *err) MUST_CHECK;
