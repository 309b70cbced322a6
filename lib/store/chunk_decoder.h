// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_decoder - a row while it is read: what chunk_decode.c and chunk_stacks.c share.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/chunk_columns.h"
#include "store/chunk_decode.h"

enum { RESERVED_MAX = 1 << 16 }; /* entries of a table for which room is made before they come */

/*
 * What a table of the row holds is an array here, indexed as the row does. Samples are read before
 * stacks, and until then speak of them as the row does: so what no wanted sample speaks of is
 * never put into the set.
 */
struct chunk_decoder {
	struct sample_set *set;
	const struct chunk_filter *filter;
	struct arena scratch;
	struct chunk_columns columns;

	str *strings;
	struct labels *label_sets; /* NULL: not wanted */
	uint32_t *labels_used;     /* by label set: its index in the set + 1; 0: not there yet */
	bool *stacks_used;         /* NULL: not wanted */
	uint64_t string_count, label_set_count, stack_count, stacks_used_count;
	uint64_t sample_count;
	size_t first_sample; /* of the set, that is of this row */
	size_t held_before;  /* by the set */
	bool too_large;
};

/* Whether so much more may be taken. False: every column counts as failed from here on. */
bool chunk_decoder_has_room(struct chunk_decoder *decoder, uint64_t count, size_t size);

/* The count of items that follow; each takes a byte at least. */
uint64_t chunk_decoder_take_count(struct reader *column);

/* The count of a table that becomes an array of items so large. */
uint64_t chunk_decoder_take_table(struct chunk_decoder *decoder, struct reader *column,
				  size_t size);

/* 0 where it is none. */
uint64_t chunk_decoder_take_index(struct reader *column, uint64_t count);

str chunk_decoder_take_string(struct chunk_decoder *decoder, struct reader *column);

/* What is counted at the head of a table comes, unless the row lies: not all of it is believed. */
static inline size_t chunk_decoder_plausible(uint64_t count)
{
	return count < RESERVED_MAX ? (size_t)count : RESERVED_MAX;
}
