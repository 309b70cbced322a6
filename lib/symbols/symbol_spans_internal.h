// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_spans - flattens overlapping address ranges: one node for each address.
 *
 * If several spans cover an address, the deepest one wins; among equal depths, the one that begins
 * last, then the one that was added first. So an inlined call covers a part of its function, and
 * duplicates in untrusted input appear once. One thread.
 */
#pragma once

#include "base/vec.h"

struct symbol_span {
	uint64_t start, end; /* [start, end) */
	uint32_t node;       /* function or inlined call */
	uint32_t depth;
};

/* From this address up to the next point: the node; 0: none. */
struct symbol_point {
	uint64_t address;
	uint32_t node;
};

typedef VEC(struct symbol_span) symbol_spans;
typedef VEC(struct symbol_point) symbol_points;

/*
 * Returns the points, sorted by address, in the arena. Empty spans are ignored. Sorts the spans in
 * place.
 */
symbol_points symbol_spans_flatten(symbol_spans *spans, struct arena *arena);
