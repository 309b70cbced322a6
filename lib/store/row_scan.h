// SPDX-License-Identifier: Apache-2.0
/*
 * row_scan - goes through the stored rows that can hold samples of a window.
 *
 * A sample is never more than AHEAD_MS ahead of its row's arrival, but it may have arrived any time
 * later. So rows are looked for from the hour of the window's start on: those that arrived up to
 * LATE_MS after its end all, and later ones among the rows marked `late`. What was merged is looked
 * for by the day of its samples, and for whole hours their sums are taken. Directories come first;
 * payloads are read of the rows that the caller wants.
 */
#pragma once

#include "store/chunk_directory.h"
#include "store/parallel_scan.h"
#include "store/rollup.h"

struct row_scan {
	struct store_reader *reader;
	struct scan_worker *workers; /* who may take payloads too; may be none */
	size_t worker_count;
	uint64_t start_ms, end_ms;
	/* Whole hours of which sums are enough, [first, end); none where first >= end. */
	uint64_t first_hour_ms, end_hour_ms;
	/* Whole days of which sums without instances are enough. */
	uint64_t first_day_ms, end_day_ms;
	const int32_t *kinds; /* of these sums: enum rollup_kind */
	size_t kind_count;
	bool sums_alone;     /* nothing else is looked at */
	const bool *buckets; /* one of each of SERIES_BUCKETS; NULL: all */

	/*
	 * Whether the row's payload is wanted, and of which series of the directory: ret_series[i],
	 * all false before. Slices that have none of them are not read.
	 */
	bool (*wants)(void *self, const struct chunk_directory *directory, bool *ret_series);
	/* What was wanted of a row, unless a worker takes it. */
	bool (*on_payload)(void *self, const struct row_fragment *fragment, struct err *err);
	void *self;
};

/* Sums of these kinds are enough for the whole hours of its window; kinds must outlive the scan. */
void row_scan_take_sums(struct row_scan *scan, const int32_t *kinds, size_t count);

/* The same, of sums that together have every series of their samples. */
void row_scan_take_series(struct row_scan *scan);

bool row_scan_run(const struct row_scan *scan, struct err *err) MUST_CHECK;

/* The buckets, as a parameter of a query. */
struct postgres_param row_scan_buckets(const struct row_scan *scan, struct arena *arena);

/* The days (since 1970, UTC) of which it can come upon samples; sorted. */
bool row_scan_days(const struct row_scan *scan, struct arena *arena, int64_t **ret_days,
		   size_t *ret_count, struct err *err) MUST_CHECK;
