// SPDX-License-Identifier: Apache-2.0
/*
 * flame - builds the tree of a flame graph from a merge.
 *
 * Pure: any thread. Nodes are symbols ("querier/report/flame_symbols_internal.h"). If the merge is
 * grouped, each label is a level above the stacks, with the name `name=value`. Samples without a
 * stack have a symbol of their own, so that every sample is part of the total.
 *
 * Nodes are in preorder, children are sorted by symbol, and
 *
 *     parent < node; total = self + totals of the children; sum of all selves = total of the flame
 */
#pragma once

#include "querier/report/flame_symbols_internal.h"

#define FLAME_NO_PARENT UINT32_MAX

struct flame_node {
	uint32_t parent; /* index, or FLAME_NO_PARENT */
	uint32_t symbol; /* index */
	int64_t self, total;
};

struct flame {
	const struct flame_symbols *symbols;
	VEC(struct flame_node) nodes;
	int64_t total;
};

/* Builds the flame of the merge symbols->merges[side] in the arena; borrows `symbols`. ERR_LIMIT:
 * merge and tree use more memory than the merge may, or a sum is beyond 64 bits. */
bool flame_build(const struct flame_symbols *symbols, size_t side, struct arena *arena,
		 struct flame *ret_flame, struct err *err) MUST_CHECK;
