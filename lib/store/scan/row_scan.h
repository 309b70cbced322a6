// SPDX-License-Identifier: Apache-2.0
/*
 * row_scan - runs a plan: scans the directories of the stored rows that can contain wanted samples,
 * and reads the payloads that the caller takes. One callback, the sink, receives the samples.
 *
 *     struct row_scan scan = { .readers = reader, .reader_count = 1, .plan = &plan, ... };
 *
 *     while (row_scan_next(&scan))
 *             if (... scan.directory does not suffice ...)
 *                     row_scan_take(&scan);
 *     return row_scan_end(&scan, err);
 *
 * The functions run in the thread of readers[0], which has begun a snapshot. Everything that the
 * struct points to is borrowed and must outlive the scan. Errors are sticky: after a failure
 * row_scan_next() returns false, and row_scan_end() returns the error.
 */
#pragma once

#include "store/scan/parallel_scan.h"

struct row_scan {
	/* readers[0] has begun its snapshot; the others read payloads as well, if there are many
	 * ("store/scan/parallel_scan.h"). */
	struct store_reader *readers;
	size_t reader_count;
	const struct scan_plan *plan;
	const struct store_sink *sinks; /* one for each reader; NULL if the caller takes no row */
	/* The current row, until the next call of row_scan_next(): */
	struct chunk_directory directory;
	bool *wanted; /* by series of the directory; the caller may clear flags */
	/* private */
	struct arena arena; /* of the current row */
	struct postgres_rows rows;
	size_t next; /* index of the next row of `rows` */
	bool has_begun, has_failed;
	struct parallel_scan parallel;
	struct payload_batch batch;
	uint64_t began_ns;
	struct err err;
};

/* Advances to the next row that can have wanted samples: scan_plan_wants(). False: there is none,
 * or the scan has failed. Adds to the stats of readers[0]. */
bool row_scan_next(struct row_scan *scan) MUST_CHECK;

/* Takes the payload of the current row: the sink gets its samples now or later. Slices without
 * wanted series are not read. */
void row_scan_take(struct row_scan *scan);

/*
 * Reads the remaining payloads and frees the memory. Call it once, in any case. False: the scan has
 * ended at the first failure, and some samples may have been passed. The errors are those of
 * payload_batch_read(); a malformed directory is ERR_CORRUPT too.
 */
bool row_scan_end(struct row_scan *scan, struct err *err) MUST_CHECK;

/* The buckets of the plan as a parameter of a statement, in the arena. */
struct postgres_param row_scan_buckets(const struct scan_plan *plan, struct arena *arena);

/*
 * The days (since 1970, UTC) of which a scan of the plan can find samples, ascending; in the arena.
 * ERR_IO: PostgreSQL failed.
 */
bool row_scan_days(struct store_reader *reader, const struct scan_plan *plan, struct arena *arena,
		   int64_t **ret_days, size_t *ret_count, struct err *err) MUST_CHECK;
