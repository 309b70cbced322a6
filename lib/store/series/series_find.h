// SPDX-License-Identifier: Apache-2.0
/*
 * series_find - finds the series that match a selector, and what must be tested on their samples.
 *
 * A label can belong to the series or to the sample; the label of the series takes precedence. If a
 * series lacks a label that samples of the window's days have, the matcher stays open for the
 * series: the matcher must be tested on each sample. One thread: that of the reader.
 */
#pragma once

#include "client/postgres.h"
#include "store/scan/matched_series.h"
#include "store/scan/reader.h"
#include "store/scan/store_window.h"

/*
 * Adds the matching series to `matched`, whose arena the caller has set; other members may be {0}.
 * The result has the matching series of the window's days, or only those of them with a row in the
 * window: for a search of samples in the window both are correct. NULL selector: every series. The
 * types of the results are borrowed from the selector. The reader has begun a snapshot; its bounds
 * apply. Adds to reader->stats.
 *
 * ERR_IO: PostgreSQL failed. ERR_CANCELLED, ERR_TIMEOUT: the bounds ended. ERR_LIMIT: the arena
 * exceeds QUERY_SERIES_BYTES_MAX, or an expression reached its match limit. ERR_CORRUPT: a stored
 * row is malformed. After a failure `matched` has some of the series.
 */
bool series_find(struct store_reader *reader, const struct selector *selector,
		 const struct store_window *window, struct matched_series *matched,
		 struct err *err) MUST_CHECK;

/* Names of the labels that samples of these days have, sorted; in the arena. Days since 1970, UTC,
 * inclusive. ERR_IO: PostgreSQL failed. */
bool sample_label_names(struct postgres *pg, int64_t first_day, int64_t last_day,
			struct arena *arena, str **ret_names, size_t *ret_count,
			struct err *err) MUST_CHECK;
