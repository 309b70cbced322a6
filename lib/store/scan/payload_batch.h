// SPDX-License-Identifier: Apache-2.0
/*
 * payload_batch - rows of one PostgreSQL partition whose payloads are read with one statement.
 *
 * {0} is an empty batch; the caller frees batch.arena at the end. A row is read whole, or only its
 * head and some of its slices ("store/chunk/chunk_ranges.h"). One thread per batch and reader.
 */
#pragma once

#include "client/postgres.h"
#include "store/chunk/chunk_ranges.h"
#include "store/limits.h"
#include "store/scan/store_stats.h"
#include "store/store_bounds.h"

struct payload_batch {
	struct arena arena; /* memory of all members below */
	str partition;      /* name of the table, as the server quotes it */
	/* For each row: its ctid (its place, valid only in the snapshot in which it was read), and
	 * the number of slices in its ranges (0: the whole row). */
	str ctids[READ_ROWS];
	size_t slices[READ_ROWS];
	size_t count, bytes; /* rows; bytes of their ranges */
	/* For each range of each row: the row's ctid, the row's index in ctids, the first byte
	 * (counted from 1, as SQL does), and the number of bytes. */
	VEC(str) range_ctids;
	VEC(int32_t) range_rows, range_ats, range_lens;
	bool has_slices; /* at least one row is not read whole */
};

/* What was read of a row: its payload, or the head and some of the slices. */
struct row_fragment {
	str bytes;     /* valid until on_payload() returns */
	size_t slices; /* number of slices in `bytes`; 0: all slices of the row */
};

/* The connection over which payloads are read, and the callback that receives the payloads. All
 * pointers are borrowed from the caller. */
struct payload_reader {
	struct postgres *pg;
	const struct store_bounds *bounds; /* checked before each payload */
	struct store_stats *stats;         /* adds to chunks, bytes, unreadable */
	/* False: the read ends with this error. ERR_INVALID: the stored row is malformed. */
	bool (*on_payload)(void *self, const struct row_fragment *fragment, struct err *err);
	void *self;
};

/*
 * True if the batch is empty, or is of that partition and has room for another row. False: read the
 * batch first.
 */
bool payload_batch_has_room(const struct payload_batch *batch, str partition);

/* Adds a row, for which there must be room. Texts and ranges are copied. Cannot fail. */
void payload_batch_add(struct payload_batch *batch, str partition, str ctid,
		       const struct chunk_ranges *ranges);

/*
 * Reads the payloads and calls on_payload() for each; the batch is empty afterwards, and keeps its
 * arena. False: the read has ended at the first failure, some payloads may have been passed, and
 * the batch is unchanged. ERR_IO: PostgreSQL failed, or rows disappeared. ERR_CANCELLED,
 * ERR_TIMEOUT: the bounds ended. Other errors are on_payload()'s; ERR_INVALID becomes ERR_CORRUPT,
 * and the row is counted in stats->unreadable.
 */
bool payload_batch_read(struct payload_batch *batch, const struct payload_reader *reader,
			struct err *err) MUST_CHECK;
