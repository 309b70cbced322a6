// SPDX-License-Identifier: Apache-2.0
/*
 * flame_table - builds the table of functions from a merge: self and total of each symbol.
 *
 * Pure: any thread. Symbols are those of "querier/report/flame_symbols_internal.h", samples without
 * a stack included.
 */
#pragma once

#include "querier/report/flame_symbols_internal.h"

/* A symbol in one group. A function that calls itself counts once in the total of a stack. */
struct flame_row {
	uint32_t symbol;
	uint32_t labels; /* the group: index in the merge's label sets */
	int64_t self, total;
};

struct flame_table {
	const struct flame_symbols *symbols;
	VEC(struct flame_row) rows; /* sorted by self, then by total, both descending */
	int64_t total;
};

/* Builds the table of the merge symbols->merges[0] in the arena; borrows `symbols`. ERR_LIMIT:
 * merge and table use more memory than the merge may, or a sum is beyond 64 bits. */
bool flame_table_build(const struct flame_symbols *symbols, struct arena *arena,
		       struct flame_table *ret_table, struct err *err) MUST_CHECK;
