// SPDX-License-Identifier: Apache-2.0
/*
 * lookup_addresses - the addresses of a merge that need symbols, grouped by binary.
 *
 * Pure: any thread.
 */
#pragma once

#include "querier/symbolize/symbol_cache.h"

struct lookup_binary {
	str build_id;
	size_t count;
	uint64_t *addresses; /* one for each frame; several frames may have the same address */
	uint32_t *frames;    /* indexes of the merge's frames, parallel to `addresses` */
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

/* Cannot fail. Everything is in the arena; build ids borrow from the merge. */
struct lookup_addresses lookup_addresses_of(const struct merge *merge, struct arena *arena);
