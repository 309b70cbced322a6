// SPDX-License-Identifier: Apache-2.0
/*
 * series_query - reads rows of the table `series` through an index: by pairs, or by ids.
 *
 * For series_find only, which decides what the index tests and what is tested here.
 */
#pragma once

#include "store/series/label_projection_internal.h"

struct series_query {
	struct postgres *pg;
	const struct store_bounds *bounds;
	int64_t first_day, last_day; /* UTC, since 1970, inclusive */
	const int64_t *must;         /* the series must have all of these pairs */
	size_t must_count;
	const int64_t *any; /* and, unless empty, one of these */
	size_t any_count;
	bool has_type;
	int64_t type; /* id of the pair of its type */
};

/* Called with a batch of series. What they point to lives until it returns. */
typedef bool series_batch_fn(void *self, struct stored_series *series, size_t count,
			     struct err *err);

bool series_query_pairs(const struct series_query *query, series_batch_fn *on_batch, void *self,
			struct err *err) MUST_CHECK;

/* The series of the type with one of these ids (sorted). `must` and `any` are ignored. */
bool series_query_ids(const struct series_query *query, const int64_t *ids, size_t count,
		      series_batch_fn *on_batch, void *self, struct err *err) MUST_CHECK;

/*
 * Estimates how many series of these days satisfy `matches_pairs`, from a few hundred series per
 * day: ids are hashes, so the series with the lowest ids from 0 on are a random sample, and the
 * range of their ids gives the density of all series.
 */
bool series_query_estimate(const struct series_query *query,
			   bool (*matches_pairs)(const void *self,
						 const struct stored_series *series),
			   const void *self, uint64_t *ret_count, struct err *err) MUST_CHECK;
