// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_decoder - the state of a decoder, and how it reads counts, indexes and strings safely.
 *
 * Tables of the row become arrays, indexed as in the row. Samples are read before stacks: until the
 * stacks are read, samples hold stack indexes of the row. Stacks and label sets that no wanted
 * sample references are never added to the set.
 *
 * Errors are sticky: a function that fails marks its column as failed (reader_fail()), and
 * chunk_decode() checks all columns before it uses what was read. chunk_decode() initialises the
 * decoder and frees `scratch`. One thread.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/chunk/chunk_columns_internal.h"
#include "store/chunk/chunk_decode.h"

enum { RESERVED_MAX = 1 << 16 }; /* entries for which room is reserved before they are read */

struct chunk_decoder {
	struct sample_set *set;            /* of the caller: receives the samples */
	const struct chunk_filter *filter; /* borrowed from the caller */
	struct arena scratch;              /* memory of the members below */
	struct chunk_columns columns;

	str *strings;
	struct labels *label_sets; /* NULL: not wanted */
	uint32_t *labels_used;     /* by label set: its index in the set + 1; 0: not added yet */
	bool *stacks_used;         /* NULL: not wanted */
	uint64_t string_count, label_set_count, stack_count, stacks_used_count;
	uint64_t sample_count;
	size_t first_sample; /* index in the set of the first sample of this row */
	size_t used_before;  /* bytes of the set's arena before decoding */
	bool too_large;      /* the row needs more than CHUNK_MEMORY_MAX */
};

/*
 * True if `count` items of `size` bytes fit into CHUNK_MEMORY_MAX, beside the memory that the row
 * uses already. Does not allocate. False: sets too_large and marks every column as failed.
 */
bool chunk_decoder_has_room(struct chunk_decoder *decoder, uint64_t count, size_t size);

/*
 * Reads the count of items that follow. Each item has at least one byte: a count beyond the
 * remaining bytes fails the column and returns 0.
 */
uint64_t chunk_decoder_read_count(struct reader *column);

/*
 * Reads the count of a table that becomes an array of items of `size` bytes. Returns 0 if the count
 * is malformed or the array has no room in CHUNK_MEMORY_MAX; the column has then failed.
 */
uint64_t chunk_decoder_read_table(struct chunk_decoder *decoder, struct reader *column,
				  size_t size);

/* Reads an index below `count`. An index out of range fails the column and returns 0. */
uint64_t chunk_decoder_read_index(struct reader *column, uint64_t count);

/* Reads the index of a string; returns the string, in the set's arena, or "" after a failure. */
str chunk_decoder_read_string(struct chunk_decoder *decoder, struct reader *column);

/* The capacity to reserve for a table of `count` entries, which a corrupt row may exaggerate. */
static inline size_t chunk_decoder_plausible(uint64_t count)
{
	return count < RESERVED_MAX ? (size_t)count : RESERVED_MAX;
}
