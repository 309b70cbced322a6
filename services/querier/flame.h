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

#include "merge.h"

struct flame_symbol {
	str name;     /* the function; binary+0xADDRESS; comm=nginx; [no stack] */
	str binary;   /* path of the executable; empty where there is none */
	str file;     /* of source code; empty where it is not known */
	str build_id; /* this and what follows: only where the function is not known */
	str address;  /* in the ELF file: 0x1f */
	/* Why, a sentence and a word: of name_reason_text and _names; empty where nobody was asked.
	 */
	str reason, reason_word;
};

/* The order that symbols are sorted by. */
int flame_symbol_compare(const struct flame_symbol *a, const struct flame_symbol *b);

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
