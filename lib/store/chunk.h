// SPDX-License-Identifier: Apache-2.0
/*
 * chunk - the samples of one row of storage, as bytes that need no other table to be read but the
 * labels of their series.
 *
 * A row is a head with what its samples share (strings, frames, stacks, label sets), and slices:
 * runs of series, by id, with their samples. Each column of either is a zstd frame of its own, or
 * stored as it is where that is no longer; head and slices have a checksum each. So a reader may
 * take the head and the slices that hold its series, in their order, and leave the others in the
 * table: where they lie says chunk_layout, which the directory has.
 *
 * Samples are sorted by series and time. Stacks are sorted root first and front-coded: how many
 * frames are shared with the stack before, then the new ones. Frames are sorted by origin (type,
 * build id, path) and address, and say the step from the one before. chunk_format.h has it all.
 *
 * Of a series the row holds id, type and period, not its labels: those are in `series`, which lives
 * as long as any row of its day, and repeating them (a container id is 32 bytes that nothing
 * compresses) would double a row of ten seconds.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

/* Where the slices of a row lie: behind its head, without gaps, in the order of their series. */
struct chunk_layout {
	size_t head_len; /* bytes */
	struct chunk_slice {
		size_t len, series_count; /* bytes; not 0 */
	} * slices;
	size_t slice_count;
};

/*
 * Only what the samples speak of is written. level: zstd's; 0 stores columns as they are.
 * ret_layout may be NULL. An empty str: they are more than ROW_RAW_MAX or ROW_FRAMES_MAX allow and
 * more than one; cut them in two.
 */
str chunk_encode(const struct sample_set *set, int level, struct arena *arena,
		 struct chunk_layout *ret_layout);

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
