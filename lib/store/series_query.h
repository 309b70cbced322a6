// SPDX-License-Identifier: Apache-2.0
/*
 * series_query - rows of the table of series, as an index finds them: by pairs, or by ids.
 *
 * For series_find alone, which knows what is asked of PostgreSQL and what is tried here.
 */
#pragma once

#include "store/label_projection.h"

struct series_query {
	struct postgres *pg;
	const struct store_bounds *bounds;
	int64_t first_day, last_day; /* UTC, since 1970, both included */
	const int64_t *must;         /* pairs that a series must have */
	size_t must_count;
	const int64_t *any; /* pairs of which it must have one, where there are some */
	size_t any_count;
	bool has_type;
	int64_t type; /* the pair of its type */
};

/* Series, some at a time; what they point to lives until this returns. */
typedef bool series_batch_fn(void *self, struct stored_series *series, size_t count,
			     struct err *err);

bool series_query_pairs(const struct series_query *query, series_batch_fn *on_batch, void *self,
			struct err *err) MUST_CHECK;

/* Those of the type that have one of the ids, which are sorted; nothing is asked of pairs. */
bool series_query_ids(const struct series_query *query, const int64_t *ids, size_t count,
		      series_batch_fn *on_batch, void *self, struct err *err) MUST_CHECK;

/*
 * About how many series of these days `matches_pairs`, told from a few hundred of each: ids are
 * hashes, so those that come next to each other are as good as drawn by lot, and say how dense all
 * are.
 */
bool series_query_estimate(const struct series_query *query,
			   bool (*matches_pairs)(const void *self,
						 const struct stored_series *series),
			   const void *self, uint64_t *ret_count, struct err *err) MUST_CHECK;
