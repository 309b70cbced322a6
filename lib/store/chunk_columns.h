// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_columns - a row's columns, checked and unpacked: for chunk_decode.c alone.
 */
#pragma once

#include "base/err.h"
#include "base/reader.h"
#include "store/chunk_format.h"

struct chunk_columns {
	struct reader of[CHUNK_COLUMN_COUNT];
	uint64_t base_ms;
};

/* They are unpacked into the arena. Columns that are not needed `without` stay empty. */
bool chunk_columns_open(struct chunk_columns *columns, str row, unsigned int without,
			struct arena *arena, struct err *err) MUST_CHECK;
