// SPDX-License-Identifier: Apache-2.0
/*
 * query_match - what of a row a query means: by its directory, by its series, by its samples.
 *
 * For the reader's own files.
 */
#pragma once

#include "store/chunk_decode.h"
#include "store/chunk_directory.h"
#include "store/series_find.h"
#include "store/store_window.h"

struct query_match {
	const struct selector *selector;
	const struct store_bounds *bounds;
	struct store_window window;
	bool everything; /* every series of the selector's type is meant; none is in `found` */
	struct matched_series matched;
};

/* Find the series that the selector means; NULL: all there are. */
bool query_match_find(struct query_match *match, struct store_reader *reader,
		      struct err *err) MUST_CHECK;

/* Matchers that need a label which no sample of the row has: a bit each. */
uint32_t query_match_never(const struct selector *selector,
			   const struct chunk_directory *directory);

/* A chunk_filter's series(); `self` is the match. */
bool query_match_series(void *self, uint64_t id, str type, struct labels *ret_labels);

/* Leave out, in place, the samples whose own labels an open matcher does not match. */
bool query_match_samples(const struct query_match *match, struct sample_set *set,
			 struct arena *arena, struct err *err) MUST_CHECK;
