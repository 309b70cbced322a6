// SPDX-License-Identifier: Apache-2.0
/*
 * lookup_addresses - the addresses of a merge that want names, binary by binary.
 */
#pragma once

#include "symbol_cache.h"

struct lookup_binary {
	str build_id;
	size_t count;
	uint64_t *addresses;            /* one for each frame */
	uint32_t *frames;               /* of the merge */
	struct address_lines *resolved; /* found so far; for symbol_lookup.c, as all that follows */
	uint32_t *missing;              /* indexes of the others */
	size_t missing_count;
	struct cached_binary *cached;
	bool was_requested, is_replaced; /* since we began */
};

struct lookup_addresses {
	VEC(struct lookup_binary) binaries;
	size_t address_count; /* of all of them */
};

struct lookup_addresses lookup_addresses_of(const struct merge *merge, struct arena *arena);
