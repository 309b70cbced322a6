// SPDX-License-Identifier: Apache-2.0
/*
 * flame - merged stacks as a tree for a flame graph, and as a table of functions.
 *
 * Pure: a merge goes in, values in an arena come out. Frames become symbols: what is one bar, one
 * row. A frame with a function is that function of a binary and a source file, at whatever address
 * and in whatever build; one without is an address in one build of a binary. Where the merge is
 * grouped, each label is a level above the stacks, as `name=value`. Samples without a stack are
 * under a symbol of their own, so nothing is missing from a sum.
 *
 * Nodes come in preorder, children sorted by symbol:
 *
 *     parent < node, total = self + the children's totals, the selves' sum = the flame's total
 */
#pragma once

#include "flame_paths.h"

#define FLAME_NO_PARENT UINT32_MAX

struct flame_node {
	uint32_t parent; /* index, or FLAME_NO_PARENT */
	uint32_t symbol; /* index */
	int64_t self, total;
};

struct flame {
	const struct flame_symbol *symbols; /* each once, sorted by name and the rest */
	size_t symbol_count;
	VEC(struct flame_node) nodes;
	int64_t total;
};

/* ERR_LIMIT: merge and tree need more memory than the merge may, or a sum is beyond 64 bits. */
bool flame_build(struct merge *merge, struct arena *arena, struct flame *ret_flame,
		 struct err *err) MUST_CHECK;
