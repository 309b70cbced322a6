// SPDX-License-Identifier: Apache-2.0
/*
 * row_scan - runs a plan: scans the stored rows that can contain samples of a window. It reads
 * directories first, and then the payloads that the caller wants.
 *
 * The functions run in the thread of the reader, which has begun a snapshot. Everything that the
 * struct points to is borrowed and must outlive the scan.
 */
#pragma once

#include "store/chunk/chunk_directory.h"
#include "store/scan/parallel_scan.h"
#include "store/scan/scan_plan.h"

struct row_scan {
	struct store_reader *reader;
	struct scan_worker *workers; /* may read payloads as well; may be empty */
	size_t worker_count;
	struct scan_plan plan;

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

/*
 * Runs the scan; a plan without sources reads nothing. Adds to reader->stats. False: the scan has
 * ended at the first failure, and some payloads may have been passed. ERR_CORRUPT: a stored row is
 * malformed (stats.unreadable). ERR_IO: PostgreSQL failed. ERR_CANCELLED, ERR_TIMEOUT: the bounds
 * ended. Other errors are a callback's.
 */
bool row_scan_run(const struct row_scan *scan, struct err *err) MUST_CHECK;

/* The buckets of the plan as a parameter of a statement, in the arena. */
struct postgres_param row_scan_buckets(const struct scan_plan *plan, struct arena *arena);

/*
 * The days (since 1970, UTC) of which the scan can find samples, ascending; in the arena. ERR_IO:
 * PostgreSQL failed.
 */
bool row_scan_days(const struct row_scan *scan, struct arena *arena, int64_t **ret_days,
		   size_t *ret_count, struct err *err) MUST_CHECK;
