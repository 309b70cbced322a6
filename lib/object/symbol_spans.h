// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_spans - pieces of a program that overlap, laid flat: which one stands at each address.
 *
 * Where several cover an address, the deepest one does; of equally deep ones that which begins
 * last, then the one that was added first. So an inlined call shows in the midst of its function,
 * and what a stranger's file says twice is said once.
 */
#pragma once

#include "base/vec.h"

struct symbol_span {
	uint64_t start, end; /* [start, end) */
	uint32_t node;       /* what it stands for */
	uint32_t depth;
};

/* From this address on until the next point: the node, or 0 for none. */
struct symbol_point {
	uint64_t address;
	uint32_t node;
};

typedef VEC(struct symbol_span) symbol_spans;
typedef VEC(struct symbol_point) symbol_points;

/* Points in the order of their addresses. Empty spans are left out; spans are sorted in place. */
symbol_points symbol_spans_flatten(symbol_spans *spans, struct arena *arena);
