// SPDX-License-Identifier: Apache-2.0
/*
 * row_source - where the rows lie that a scan goes through: its questions to PostgreSQL.
 */
#pragma once

#include "client/postgres.h"
#include "store/row_scan.h"

enum { ROW_SOURCE_PARAMS = 14 };

struct row_source {
	const char *sql;
	struct postgres_param params[ROW_SOURCE_PARAMS];
};

/* Binary values of the columns of the cursor. */
enum { ROW_PARTITION, ROW_PLACE, ROW_PAYLOAD_LEN, ROW_DIRECTORY };

/* DECLARE of the cursor `rows`. */
struct row_source row_source_cursor(const struct row_scan *scan, struct arena *arena);

/* The days of samples that these rows may hold: bigint, since 1970, UTC, sorted, each once. */
struct row_source row_source_days(const struct row_scan *scan, struct arena *arena);
