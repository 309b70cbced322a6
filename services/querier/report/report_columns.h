// SPDX-License-Identifier: Apache-2.0
/*
 * report_columns - the columns of a flame graph and the members of a table's row that a request
 * wants: its parameter `columns`.
 *
 * Pure; any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* In the order of the response. */
#define REPORT_COLUMNS(ROW)               \
	ROW(NAME, name)                   \
	ROW(BINARY, binary)               \
	ROW(FILE, file)                   \
	ROW(BUILD_ID, build_id)           \
	ROW(ADDRESS, address)             \
	ROW(REASON, reason)               \
	ROW(REASON_CODE, reason_code)     \
	/* Paths and build ids of all. */ \
	ROW(BUILDS, builds)

#define REPORT_COLUMN(NAME, name) COLUMN_##NAME,
enum report_column { REPORT_COLUMNS(REPORT_COLUMN) REPORT_COLUMN_COUNT };
#undef REPORT_COLUMN

extern const char *const report_column_names[REPORT_COLUMN_COUNT];

/* A set of columns: bit 1 << enum report_column. Values of nodes are always there. */
typedef uint32_t report_columns;

/* All but the last one, which makes a response larger and which few need. */
#define REPORT_COLUMNS_DEFAULT ((report_columns)(1U << COLUMN_BUILDS) - 1)

static inline bool report_columns_has(report_columns columns, enum report_column column)
{
	return columns >> column & 1;
}

/* Parses names that are separated by commas. Empty: REPORT_COLUMNS_DEFAULT. ERR_INVALID: a name
 * is unknown, empty, or there twice; the message names it. */
bool report_columns_parse(str text, report_columns *ret_columns, struct err *err) MUST_CHECK;
