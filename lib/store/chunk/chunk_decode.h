// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_decode - decodes the samples of a stored row that match a filter. Pure.
 *
 * The payload is untrusted input: every count and length is checked against limits.h before memory
 * is allocated for it.
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
	 * Called for each series of the row. Returns true and sets the labels of the series if its
	 * samples are wanted. The labels must outlive the set.
	 */
	bool (*series)(void *self, uint64_t id, str type, struct labels *ret_labels);
	void *self;
	uint64_t start_ms, end_ms; /* [start_ms, end_ms) */
	unsigned int without;      /* of enum chunk_without */
	uint64_t slices;           /* number of slices that the payload contains; 0: all */
};

/*
 * Adds the matching samples to `set`. Everything added lives in the set's arena. ret_samples:
 * number of samples in the slices, matching or not. ERR_INVALID: the payload is malformed or
 * corrupt; the contents of the set are then undefined.
 */
bool chunk_decode(str row, const struct chunk_filter *filter, struct sample_set *set,
		  uint64_t *ret_samples, struct err *err) MUST_CHECK;
