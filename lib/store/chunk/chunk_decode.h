// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_decode - decodes the samples of a stored row that match a filter. No I/O, any thread.
 *
 * A payload is the encoding of a row that chunk_encode() writes. The payload is untrusted input:
 * every count and length is checked against limits.h before memory is allocated for it.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

/*
 * Columns that are not decompressed. Without stacks, samples have the empty stack; without labels,
 * samples have no labels of their own.
 */
enum chunk_without { CHUNK_NO_STACKS = 1, CHUNK_NO_LABELS = 2 };

/* Which samples to decode. */
struct chunk_filter {
	/*
	 * Called for each series of the row. Returns true and sets *ret_labels, the labels of the
	 * series, if its samples are wanted. The set borrows these labels: they must live as long
	 * as the set. `type` lives as long as the set.
	 */
	bool (*series)(void *self, uint64_t id, str type, struct labels *ret_labels);
	void *self;
	uint64_t start_ms, end_ms; /* sample times wanted: [start_ms, end_ms) */
	unsigned int without;      /* of enum chunk_without */
	uint64_t slices; /* number of slices that `row` contains; 0: all slices of the row */
};

/*
 * Adds the matching samples to `set`, which the caller has initialised with sample_set_init(). The
 * set borrows nothing from `row`: texts and tables are copied into the set's arena. *ret_samples:
 * number of samples in the slices, matching or not. ERR_INVALID, the only error: the payload is
 * malformed or corrupt, lacks slices, or exceeds CHUNK_RAW_MAX or CHUNK_MEMORY_MAX; the contents of
 * the set are then undefined, and the caller discards the set.
 */
bool chunk_decode(str row, const struct chunk_filter *filter, struct sample_set *set,
		  uint64_t *ret_samples, struct err *err) MUST_CHECK;
