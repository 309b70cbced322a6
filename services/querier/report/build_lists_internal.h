// SPDX-License-Identifier: Apache-2.0
/*
 * build_lists - the builds of symbols, for the column `builds` of a report.
 *
 * A list holds the different builds of one symbol, sorted by path: at most BUILDS_OF_SYMBOL_MAX.
 * Most symbols have one of few lists, so equal lists are one. One thread. Memory is in the arena;
 * no function fails.
 */
#pragma once

#include "base/index.h"
#include "base/vec.h"
#include "querier/querier_limits.h"
#include "querier/report/flame_symbols_internal.h"

struct build_list {
	const struct flame_build *builds;
	size_t count;
};

struct build_lists {
	VEC(struct build_list) items; /* the first one is empty */
	size_t left_out;              /* builds that lists have no room for */
	/* private */
	struct arena *arena;
	INDEX(uint32_t) index;
};

void build_lists_init(struct build_lists *lists, struct arena *arena);

/* The list of a symbol: an index in lists->items. */
uint32_t build_lists_add(struct build_lists *lists, const struct flame_symbol *symbol);
