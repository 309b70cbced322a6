// SPDX-License-Identifier: Apache-2.0
/*
 * flame_paths - the stacks of a merge as sorted sequences of symbols: what tree and table are made
 * of, for flame.c and flame_table.c alone.
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

struct flame_paths {
	struct merge *merge;
	struct flame_symbol *symbols;
	size_t symbol_count;
	const uint32_t *order; /* indexes of the merge's samples, by their paths */
	/* private */
	uint32_t *of_frame, *of_group; /* symbols: by frame; group_by->len by label set */
	uint32_t no_stack;
};

bool flame_paths_make(struct flame_paths *paths, struct merge *merge, struct arena *arena,
		      struct err *err) MUST_CHECK;

/* Labels it is grouped by, then the frames, root first, or "no stack". */
size_t flame_path_len(const struct flame_paths *paths, const struct sample *sample);
uint32_t flame_path_at(const struct flame_paths *paths, const struct sample *sample, size_t i);
