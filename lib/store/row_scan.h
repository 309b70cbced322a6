/*
 * row_scan - goes through the stored rows that can hold samples of a window.
 *
 * A sample is never more than AHEAD_MS ahead of its row's arrival, but it may have arrived any time
 * later. So rows are looked for from the hour of the window's start on: those that arrived up to
 * LATE_MS after its end all, and later ones among the rows marked `late`. Directories come first;
 * payloads are read of the rows that the caller wants.
 */
#pragma once

#include "client/postgres.h"
#include "store/chunk_directory.h"
#include "store/store_bounds.h"
#include "store/store_stats.h"

struct row_scan {
	struct postgres *pg;
	uint64_t start_ms, end_ms;
	const struct store_bounds *bounds;
	const bool *buckets; /* one of each of SERIES_BUCKETS; NULL: all */
	struct store_stats *stats;

	/* Whether the row's payload is wanted. */
	bool (*wants)(void *self, const struct chunk_directory *directory);
	/* One payload that was wanted; NULL where none ever is. */
	bool (*take)(void *self, str payload, struct err *err);
	void *self;
};

bool row_scan_run(const struct row_scan *scan, struct err *err) MUST_CHECK;
