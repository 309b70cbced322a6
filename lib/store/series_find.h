// SPDX-License-Identifier: Apache-2.0
/*
 * series_find - which series a selector means, and what is left to ask of their samples.
 *
 * A label can be the series' or the sample's, and the series' wins. Where a series lacks a label
 * that samples of these days have, the matcher stays open for it: it must be tested on each sample.
 */
#pragma once

#include "base/map.h"
#include "client/postgres.h"
#include "profile/selector.h"
#include "store/reader.h"
#include "store/store_window.h"

struct series_match {
	str type;
	struct labels labels;
	uint32_t open; /* bit i: matcher i must be tested on the samples */
};

struct matched_series {
	struct arena *arena;
	struct map by_id; /* 8 bytes of id to struct series_match */
	/* Given: of the labels only these may be looked at, of a selector's series. Others may be
	 * missing. */
	bool few_labels;
	const str *label_names;
	size_t label_count;
	bool buckets[64]; /* where their rows are */
};
_Static_assert(MATCHERS_MAX <= 32, "a matcher has a bit in found_series.open");

/*
 * Series of the window's days, or those of them that have a row in the window: which it is does not
 * matter to who looks for samples in it. A NULL selector: every series.
 */
bool series_find(struct store_reader *reader, const struct selector *selector,
		 const struct store_window *window, struct matched_series *matched,
		 struct err *err) MUST_CHECK;

const struct series_match *matched_series_get(const struct matched_series *matched, uint64_t id);

/* Names of the labels that samples of these days have. */
bool sample_label_names(struct postgres *pg, int64_t first_day, int64_t last_day,
			struct arena *arena, str **ret_names, size_t *ret_count,
			struct err *err) MUST_CHECK;
