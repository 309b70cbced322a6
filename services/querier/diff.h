// SPDX-License-Identifier: Apache-2.0
/*
 * diff - two flame graphs as one tree, each node with both values.
 *
 * Pure. A node is in it where it is in either: what vanished and what is new stay, with 0 on the
 * other side. Values are what was measured; whoever shows them may scale one side to the other.
 * As in each of the two, nodes are in preorder and children are sorted by symbol.
 */
#pragma once

#include "flame.h"

/* Two flames with the same nodes and symbols: only the values differ. */
struct diff {
	struct flame a, b;
};

/* ERR_LIMIT: more memory than the merge may. The symbols' texts are borrowed. */
bool diff_build(const struct flame *a, const struct flame *b, struct merge *merge,
		struct arena *arena, struct diff *ret_diff, struct err *err) MUST_CHECK;
