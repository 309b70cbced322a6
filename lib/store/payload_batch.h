// SPDX-License-Identifier: Apache-2.0
/*
 * payload_batch - stored rows of one partition whose payloads are wanted: read in one trip.
 */
#pragma once

#include "client/postgres.h"
#include "store/chunk_ranges.h"
#include "store/limits.h"
#include "store/store_bounds.h"
#include "store/store_stats.h"

struct payload_batch {
	struct arena arena; /* of the names and places */
	str partition;
	str places[READ_ROWS]; /* ctid: good within one snapshot */
	size_t slices[READ_ROWS];
	size_t count, bytes;
	/* What of them: a place, the row's number, its first byte (from 1 on), how many. */
	VEC(str) range_places;
	VEC(int32_t) range_rows, range_ats, range_lens;
	bool has_slices; /* of one row at least not all is read */
};

/* The payload of a row, or its head with as many of its slices. */
struct row_fragment {
	str bytes;
	size_t slices; /* 0: all of them */
};

/* Who reads, and where payloads go. */
struct payload_reader {
	struct postgres *pg;
	const struct store_bounds *bounds;
	struct store_stats *stats;
	bool (*on_payload)(void *self, const struct row_fragment *fragment, struct err *err);
	void *self;
};

/* Whether it has room for a row of that partition. */
bool payload_batch_has_room(const struct payload_batch *batch, str partition);
void payload_batch_add(struct payload_batch *batch, str partition, str place,
		       const struct chunk_ranges *ranges);

/* It is empty afterwards. */
bool payload_batch_read(struct payload_batch *batch, const struct payload_reader *reader,
			struct err *err) MUST_CHECK;
