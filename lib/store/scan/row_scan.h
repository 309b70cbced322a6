// SPDX-License-Identifier: Apache-2.0
/*
 * row_scan - scans the stored rows that can contain samples of a window.
 *
 * A sample is never more than AHEAD_MS ahead of the arrival of its row, but it may have arrived any
 * time later. `chunk_raw` rows are therefore searched from the hour of the window's start on: all
 * rows that arrived until LATE_MS after the window's end, and of the rows that arrived later, those
 * marked `late`. `chunk` rows are searched by the day of their samples. For whole hours, sums are
 * used if the caller allows it. The scan reads directories first, and then the payloads that the
 * caller wants.
 *
 * The functions run in the thread of the reader, which has begun a snapshot. Everything that the
 * struct points to is borrowed and must outlive the scan.
 */
#pragma once

#include "store/chunk/chunk_directory.h"
#include "store/compact/rollup.h"
#include "store/scan/parallel_scan.h"

struct row_scan {
	struct store_reader *reader;
	struct scan_worker *workers; /* may read payloads as well; may be empty */
	size_t worker_count;
	uint64_t start_ms, end_ms; /* the window: [start_ms, end_ms) */
	/* Whole hours [first, end) of which sums suffice; none if first >= end. */
	uint64_t first_hour_ms, end_hour_ms;
	/* Whole days [first, end) of which sums without instances suffice; none if first >= end. */
	uint64_t first_day_ms, end_day_ms;
	const int32_t *kinds; /* sums to use: enum rollup_kind; ROLLUP_GAUGES first */
	size_t kind_count;
	bool sums_alone;     /* scan only sums; samples outside whole hours are not read */
	const bool *buckets; /* by bucket, SERIES_BUCKETS flags; NULL: all */

	/*
	 * Called for each row. Returns true if the payload is wanted, and sets ret_series[i] (all
	 * false before) for the wanted series of the directory. Slices without wanted series are
	 * not read. The directory is valid until the callback returns.
	 */
	bool (*wants_payload)(void *self, const struct chunk_directory *directory,
			      bool *ret_series);
	/* Called with each wanted payload that the leader reads; payloads that a worker reads go to
	 * the worker's payload_reader. See struct payload_reader for its result. */
	bool (*on_payload)(void *self, const struct row_fragment *fragment, struct err *err);
	void *self;
};

/* Uses sums of these kinds for the whole hours of the window, which must be set before. */
void row_scan_use_sums(struct row_scan *scan, const int32_t *kinds, size_t count);

/* Uses the kinds of sums that together contain every series, as row_scan_use_sums() does. */
void row_scan_use_series_sums(struct row_scan *scan);

/*
 * Runs the scan. Adds to reader->stats. False: the scan has ended at the first failure, and some
 * payloads may have been passed. ERR_CORRUPT: a stored row is malformed (stats.unreadable).
 * ERR_IO: PostgreSQL failed. ERR_CANCELLED, ERR_TIMEOUT: the bounds ended. Other errors are a
 * callback's.
 */
bool row_scan_run(const struct row_scan *scan, struct err *err) MUST_CHECK;

/* The buckets as a parameter of a statement, in the arena. */
struct postgres_param row_scan_buckets(const struct row_scan *scan, struct arena *arena);

/*
 * The days (since 1970, UTC) of which the scan can find samples, ascending; in the arena. ERR_IO:
 * PostgreSQL failed.
 */
bool row_scan_days(const struct row_scan *scan, struct arena *arena, int64_t **ret_days,
		   size_t *ret_count, struct err *err) MUST_CHECK;
