// SPDX-License-Identifier: Apache-2.0
/*
 * flame_table - merged stacks as a table of functions.
 */
#pragma once

#include "flame_paths.h"

/* A symbol in one group. A function that calls itself counts once in the total of a stack. */
struct flame_row {
	uint32_t symbol;
	uint32_t labels; /* of the group: index in the merge's label sets */
	int64_t self, total;
};

struct flame_table {
	const struct flame_symbol *symbols;
	VEC(struct flame_row) rows; /* the greatest self first, then the greatest total */
	int64_t total;
};

bool flame_table_build(struct merge *merge, struct arena *arena, struct flame_table *ret_table,
		       struct err *err) MUST_CHECK;
