// SPDX-License-Identifier: Apache-2.0
/*
 * lookup_addresses - the addresses of a merge that need symbols, grouped by binary.
 */
#pragma once

#include "querier/symbolize/symbol_cache.h"

struct lookup_binary {
	str build_id;
	size_t count;
	uint64_t *addresses; /* one for each frame; several frames may have the same */
	uint32_t *frames;    /* of the merge */
	/* private to symbol_lookup.c */
	struct address_lines *resolved; /* the symbols found so far */
	uint32_t *missing;              /* indexes of the other addresses */
	size_t missing_count;
	struct cached_binary *cached;
	bool was_requested, is_replaced; /* by this lookup; is_replaced: the generation changed */
};

struct lookup_addresses {
	VEC(struct lookup_binary) binaries;
	size_t address_count; /* of all binaries */
};

/* Pure. Everything lives in the arena; build ids are borrowed from the merge. */
struct lookup_addresses lookup_addresses_of(const struct merge *merge, struct arena *arena);
