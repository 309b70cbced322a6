// SPDX-License-Identifier: Apache-2.0
/*
 * series_window - finds the series that have rows in a short window, from the rows' directories.
 *
 * A quarter of an hour often has a hundredth of the series of a day, and the index knows only days.
 * One thread: that of the reader, which has begun a snapshot.
 */
#pragma once

#include "store/scan/reader.h"
#include "store/scan/store_window.h"

struct series_window {
	struct store_reader *reader;
	const struct store_window *window;
	const bool *buckets; /* by bucket, SERIES_BUCKETS flags; NULL: all */
	size_t max;          /* give up beyond this number of ids */
};

/*
 * The ids of every series that a scan of the window, with or without sums, can find; distinct,
 * ascending, in the arena. *ret_is_few false: there are more than `max` ids, or the first buckets
 * suggest so; *ret_ids is then not set. Leaves the counts of reader->stats unchanged. Fails as
 * row_scan_run() does.
 */
bool series_window_read(const struct series_window *request, struct arena *arena, int64_t **ret_ids,
			size_t *ret_count, bool *ret_is_few, struct err *err) MUST_CHECK;
