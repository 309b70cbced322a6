// SPDX-License-Identifier: Apache-2.0
/*
 * payload_batch - rows of one partition whose payloads are read with one statement.
 */
#pragma once

#include "client/postgres.h"
#include "store/chunk/chunk_ranges.h"
#include "store/limits.h"
#include "store/scan/store_stats.h"
#include "store/store_bounds.h"

struct payload_batch {
	struct arena arena; /* of the texts and ranges */
	str partition;
	str ctids[READ_ROWS]; /* valid within one snapshot */
	size_t slices[READ_ROWS];
	size_t count, bytes;
	/* By range: ctid, index of the row, first byte (from 1), length. */
	VEC(str) range_ctids;
	VEC(int32_t) range_rows, range_ats, range_lens;
	bool has_slices; /* at least one row is not read whole */
};

/* The payload of a row, or its head and some of its slices. */
struct row_fragment {
	str bytes;
	size_t slices; /* 0: all of them */
};

/* A connection that reads payloads, and the callback for them. */
struct payload_reader {
	struct postgres *pg;
	const struct store_bounds *bounds;
	struct store_stats *stats;
	bool (*on_payload)(void *self, const struct row_fragment *fragment, struct err *err);
	void *self;
};

/* True if the batch has room for a row of that partition. */
bool payload_batch_has_room(const struct payload_batch *batch, str partition);
void payload_batch_add(struct payload_batch *batch, str partition, str ctid,
		       const struct chunk_ranges *ranges);

/*
 * Reads the payloads and calls on_payload() for each; the batch is empty afterwards. If
 * on_payload() fails with ERR_INVALID, the row counts as unreadable.
 */
bool payload_batch_read(struct payload_batch *batch, const struct payload_reader *reader,
			struct err *err) MUST_CHECK;
