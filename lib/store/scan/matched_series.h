// SPDX-License-Identifier: Apache-2.0
/*
 * matched_series - the series whose data a query wants: a value. No I/O; several threads may read
 * it at once.
 */
#pragma once

#include "base/map.h"
#include "profile/labels.h"
#include "profile/selector.h"

struct series_match {
	str type;
	struct labels labels;
	uint32_t open; /* bit i: matcher i must be tested on the samples */
	bool is_found; /* no more samples of the series are wanted */
};

struct matched_series {
	struct arena *arena; /* of the caller: memory of all results */
	struct map by_id;    /* id (8 bytes) to struct series_match */
	/* Input: true: with a selector, the caller needs only labels with these names; the results
	 * may lack the others. */
	bool limits_series_labels;
	const str *label_names;
	size_t label_count;
	bool buckets[64]; /* buckets that contain rows of these series */
};
_Static_assert(MATCHERS_MAX <= 32, "a matcher has a bit in series_match.open");

/* The series with that id, or NULL. Valid as long as the arena. */
static inline struct series_match *matched_series_get(const struct matched_series *matched,
						      uint64_t id)
{
	return map_get(&matched->by_id, (str){ (const char *)&id, sizeof(id) });
}
