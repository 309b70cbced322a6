// SPDX-License-Identifier: Apache-2.0
/*
 * diff - compares two flame graphs: one tree, each node with the values of both.
 *
 * Pure: any thread. The tree has a node if either graph has it; the other graph's value is 0 then.
 * Values are as measured; a client may scale one side to the other. As in each flame graph, nodes
 * are in preorder and children are sorted by symbol.
 */
#pragma once

#include "querier/report/flame.h"

/* Two flame graphs with the same nodes: only the values differ. */
struct diff {
	struct flame a, b;
};

/* Builds the diff of symbols->merges[0] and [1] in the arena; borrows `symbols`. ERR_LIMIT: more
 * memory than the second merge may use, or a sum is beyond 64 bits. */
bool diff_build(const struct flame_symbols *symbols, struct arena *arena, struct diff *ret_diff,
		struct err *err) MUST_CHECK;
