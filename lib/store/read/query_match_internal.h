// SPDX-License-Identifier: Apache-2.0
/*
 * query_match - which data of a row a query matches: by its directory, its series, its samples.
 *
 * For the readers of this folder only. The caller sets selector, bounds, window, `everything` and
 * matched.arena; all pointers are borrowed, and there is nothing to close. query_match_find() is
 * called from the thread of the reader; afterwards several threads may read copies of the struct,
 * each with its own selector, whose matchers are not thread-safe.
 */
#pragma once

#include "store/chunk/chunk_decode.h"
#include "store/chunk/chunk_directory.h"
#include "store/scan/store_window.h"
#include "store/series/series_find.h"

struct query_match {
	const struct selector *selector; /* NULL: every series; see the functions */
	const struct store_bounds *bounds;
	struct store_window window;
	bool everything; /* every series of the selector's type matches; `matched` is empty */
	struct matched_series matched;
};

/* Adds the series that match the selector (NULL: every series) to `matched`. Adds to reader->stats.
 * Fails as series_find() does. */
bool query_match_find(struct query_match *match, struct store_reader *reader,
		      struct err *err) MUST_CHECK;

/* Bit i: matcher i of the selector, which is not NULL, requires a label that no sample of the row
 * has. */
uint32_t query_match_never(const struct selector *selector,
			   const struct chunk_directory *directory);

/* Callback for chunk_filter.series; `self` is a struct query_match, which must outlive the set. */
bool query_match_series(void *self, uint64_t id, str type, struct labels *ret_labels);

/*
 * Removes, in place, the samples whose own labels fail a matcher that is open for the series. The
 * selector is not NULL, unless no matcher is open. Temporary memory is in the arena.
 * ERR_CANCELLED, ERR_TIMEOUT: the bounds ended. ERR_LIMIT: an expression reached its match limit.
 * After a failure the samples are undefined.
 */
bool query_match_samples(const struct query_match *match, struct sample_set *set,
			 struct arena *arena, struct err *err) MUST_CHECK;
