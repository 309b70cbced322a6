// SPDX-License-Identifier: Apache-2.0
/*
 * payload_batch - rows of one PostgreSQL partition whose payloads are read with one statement.
 *
 * {0} is an empty batch; the caller frees batch.arena at the end. A row is read whole, or only its
 * head and some of its slices ("store/chunk/chunk_ranges.h"). One thread per batch and reader.
 */
#pragma once

#include "base/vec.h"
#include "store/chunk/chunk_ranges.h"
#include "store/limits.h"
#include "store/scan/reader.h"
#include "store/scan/scan_plan.h"
#include "store/scan/store_sink.h"

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

/* The connection over which payloads are read, the plan, and the sink that receives the samples.
 * All pointers are borrowed from the caller. */
struct payload_reader {
	struct store_reader *reader; /* adds to its stats */
	const struct scan_plan *plan;
	const struct store_sink *sink;
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
 * Reads the payloads, decodes the samples of the plan, and passes them to the sink; the batch is
 * empty afterwards, and keeps its arena. False: the read has ended at the first failure, some
 * samples may have been passed, and the batch is unchanged. ERR_CORRUPT: a stored row is malformed,
 * which is counted in stats.unreadable. ERR_IO: PostgreSQL failed, or rows disappeared.
 * ERR_CANCELLED, ERR_TIMEOUT: the bounds ended. ERR_LIMIT: an expression reached its match limit.
 * Other errors are the sink's.
 */
bool payload_batch_read(struct payload_batch *batch, const struct payload_reader *reader,
			struct err *err) MUST_CHECK;
