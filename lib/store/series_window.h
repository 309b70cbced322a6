// SPDX-License-Identifier: Apache-2.0
/*
 * series_window - the series that stored rows of a window speak of, by the rows' directories.
 *
 * Of a quarter of an hour they are often a hundredth of the day's, of which alone the index knows.
 */
#pragma once

#include "store/reader.h"
#include "store/store_window.h"

struct series_window {
	struct store_reader *reader;
	const struct store_window *window;
	const bool *buckets; /* one of each of SERIES_BUCKETS; NULL: all */
	size_t max;          /* more are not wanted */
};

/*
 * Every series that a scan of the window, with sums or without, can come upon; sorted, each once.
 * ret_is_few false: there are more than `most`, or will be by the look of the first, and none is
 * given.
 */
bool series_window_read(const struct series_window *request, struct arena *arena, int64_t **ret_ids,
			size_t *ret_count, bool *ret_is_few, struct err *err) MUST_CHECK;
