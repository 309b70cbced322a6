// SPDX-License-Identifier: Apache-2.0
/*
 * flame_paths - the stacks of a merge as sorted sequences of symbols: the input of tree and table.
 *
 * Pure: any thread. All memory is in the arena; nothing must be freed.
 */
#pragma once

#include "querier/report/flame_symbols_internal.h"

struct flame_paths {
	struct merge *merge;
	const uint32_t *order; /* indexes of the merge's samples, sorted by their paths */
	/* private */
	const uint32_t *of_frame, *of_group; /* symbols, as in struct flame_symbols */
	uint32_t no_stack;
};

/* Initialises the paths of the merge symbols->merges[side]. ERR_LIMIT: more memory than the merge
 * may use; `paths` must not be used then. */
bool flame_paths_make(struct flame_paths *paths, const struct flame_symbols *symbols, size_t side,
		      struct arena *arena, struct err *err) MUST_CHECK;

/* The length of a sample's path: the labels that the response is grouped by, then the frames with
 * the root first; for a sample without a stack, one symbol in place of the frames. */
size_t flame_path_len(const struct flame_paths *paths, const struct sample *sample);

/* The symbol (an index) at position i of a sample's path; i < flame_path_len(). */
uint32_t flame_path_at(const struct flame_paths *paths, const struct sample *sample, size_t i);
