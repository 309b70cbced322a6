// SPDX-License-Identifier: Apache-2.0
/*
 * flame_paths - the stacks of a merge as sorted sequences of symbols: the input of tree and table.
 *
 * A symbol is one bar of the flame graph, one row of the table. A frame with a function becomes
 * that function of a binary and a source file, for all addresses and builds. A frame without a
 * function becomes an address in one build of a binary. Pure: any thread. All memory is in the
 * arena; nothing must be freed.
 */
#pragma once

#include "querier/merge/merge.h"

struct flame_symbol {
	str name;     /* the function; binary+0xADDRESS; comm=nginx; [no stack] */
	str binary;   /* path of the executable; may be empty */
	str file;     /* source file; empty if unknown */
	str build_id; /* this field and those below: only if the function is unknown */
	str address;  /* in the ELF file: 0x1f */
	/* Why the function is unknown: a sentence of name_reason_text and a word of
	 * name_reason_names; empty if the frame was not symbolized. */
	str reason, reason_code;
};

/* The order of symbols: by name, binary, file and build id. */
int flame_symbol_compare(const struct flame_symbol *a, const struct flame_symbol *b);

struct flame_paths {
	struct merge *merge;
	struct flame_symbol *symbols; /* each once, sorted */
	size_t symbol_count;
	const uint32_t *order; /* indexes of the merge's samples, sorted by their paths */
	/* private */
	uint32_t *of_frame; /* symbol by frame */
	uint32_t *of_group; /* symbols by label set: group_by->len of each */
	uint32_t no_stack;
};

/* Initialises `paths`, which borrows texts from the merge. ERR_LIMIT: more memory than the merge
 * may use; `paths` must not be used then. */
bool flame_paths_make(struct flame_paths *paths, struct merge *merge, struct arena *arena,
		      struct err *err) MUST_CHECK;

/* The length of a sample's path: the labels that the response is grouped by, then the frames with
 * the root first; for a sample without a stack, one symbol in place of the frames. */
size_t flame_path_len(const struct flame_paths *paths, const struct sample *sample);

/* The symbol (an index) at position i of a sample's path; i < flame_path_len(). */
uint32_t flame_path_at(const struct flame_paths *paths, const struct sample *sample, size_t i);
