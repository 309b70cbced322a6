// SPDX-License-Identifier: Apache-2.0
/*
 * name_wanted - the addresses of a merge that want names, binary by binary.
 */
#pragma once

#include "name_cache.h"

struct name_wanted {
	str build_id;
	size_t count;
	uint64_t *addresses; /* one for each frame */
	uint32_t *frames;    /* of the merge */
	struct name *names;  /* found so far; for name_search.c, as all that follows */
	uint32_t *missing;   /* indexes of the others */
	size_t missing_count;
	struct name_binary *binary;
	bool was_asked, is_another; /* since we began */
};

struct name_list {
	VEC(struct name_wanted) binaries;
	size_t addresses; /* of all of them */
};

struct name_list name_list_of(const struct merge *merge, struct arena *arena);
