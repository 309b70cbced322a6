// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_decode - reads the samples of a row that a filter wants.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

/* What may stay packed: samples come with the empty stack then, and with no labels of their own. */
enum chunk_without { CHUNK_NO_STACKS = 1, CHUNK_NO_LABELS = 2 };

/* What of a row is wanted. */
struct chunk_filter {
	/* The labels of a series; false: its samples are not wanted. They must outlive the set. */
	bool (*series)(void *self, uint64_t id, str type, struct labels *ret_labels);
	void *self;
	uint64_t start_ms, end_ms; /* [start_ms, end_ms) */
	unsigned int without;      /* of enum chunk_without */
	uint64_t slices;           /* how many of the row's are there; 0: all */
};

/*
 * Adds what the filter wants to `set`, which then borrows from the set's arena only. ret_samples:
 * how many the slices hold. ERR_INVALID: not a row of ours, or damaged; the set holds rubbish.
 */
bool chunk_decode(str row, const struct chunk_filter *filter, struct sample_set *set,
		  uint64_t *ret_samples, struct err *err) MUST_CHECK;
