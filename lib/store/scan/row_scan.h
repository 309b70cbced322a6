// SPDX-License-Identifier: Apache-2.0
/*
 * row_scan - scans the stored rows that can contain samples of a window.
 *
 * A sample is never more than AHEAD_MS ahead of the arrival of its row, but it may have arrived any
 * time later. `chunk_raw` rows are therefore searched from the hour of the window's start on: all
 * rows that arrived until LATE_MS after the window's end, and of later ones those marked `late`.
 * `chunk` rows are searched by the day of their samples. For whole hours, sums are used if the
 * caller allows it. The scan reads directories first, and then the payloads that the caller wants.
 */
#pragma once

#include "store/chunk/chunk_directory.h"
#include "store/compact/rollup.h"
#include "store/scan/parallel_scan.h"

struct row_scan {
	struct store_reader *reader;
	struct scan_worker *workers; /* may read payloads as well; may be empty */
	size_t worker_count;
	uint64_t start_ms, end_ms;
	/* Whole hours [first, end) of which sums suffice; empty if first >= end. */
	uint64_t first_hour_ms, end_hour_ms;
	/* Whole days [first, end) of which sums without instances suffice. */
	uint64_t first_day_ms, end_day_ms;
	const int32_t *kinds; /* the sums to use: enum rollup_kind */
	size_t kind_count;
	bool sums_alone;     /* scan nothing but sums */
	const bool *buckets; /* by bucket, SERIES_BUCKETS flags; NULL: all */

	/*
	 * Called for each row. Returns true if the payload is wanted, and sets ret_series[i] (all
	 * false before) for the wanted series of the directory. Slices without them are not read.
	 */
	bool (*wants_payload)(void *self, const struct chunk_directory *directory,
			      bool *ret_series);
	/* Called with each wanted payload that the leader reads, not a worker. */
	bool (*on_payload)(void *self, const struct row_fragment *fragment, struct err *err);
	void *self;
};

/* Use sums of these kinds for the whole hours of the window. `kinds` must outlive the scan. */
void row_scan_use_sums(struct row_scan *scan, const int32_t *kinds, size_t count);

/* Use the kinds of sums that together contain every series. */
void row_scan_use_series_sums(struct row_scan *scan);

/* Runs the scan. Counts into reader->stats. */
bool row_scan_run(const struct row_scan *scan, struct err *err) MUST_CHECK;

/* The buckets as a parameter of a statement. */
struct postgres_param row_scan_buckets(const struct row_scan *scan, struct arena *arena);

/* The days (since 1970, UTC) of which the scan can find samples, sorted; in the arena. */
bool row_scan_days(const struct row_scan *scan, struct arena *arena, int64_t **ret_days,
		   size_t *ret_count, struct err *err) MUST_CHECK;
