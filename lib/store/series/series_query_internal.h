// SPDX-License-Identifier: Apache-2.0
/*
 * series_query - reads rows of the table `series` through an index: by pairs, or by ids.
 *
 * For series_find() only, which decides which conditions the index tests, and tests the others. One
 * thread: that of `pg`. Errors of all functions: ERR_IO, PostgreSQL failed;
 * ERR_CANCELLED, ERR_TIMEOUT, the bounds ended; ERR_CORRUPT, a stored row is malformed.
 */
#pragma once

#include "store/series/label_projection_internal.h"

struct series_query {
	struct postgres *pg;
	const struct store_bounds *bounds;
	int64_t first_day, last_day; /* days since 1970, UTC, inclusive */
	const int64_t *must;         /* the series must have all of these pairs */
	size_t must_count;
	const int64_t *any; /* unless empty: the series must have one of these pairs */
	size_t any_count;
	bool has_type;
	int64_t type; /* if has_type: id of the type's pair, which the series must have */
};

/*
 * Called with a batch of series, which live until the callback returns; the callback may reorder
 * them. False: the query ends with this error.
 */
typedef bool series_batch_fn(void *self, struct stored_series *series, size_t count,
			     struct err *err);

/* Passes the series that satisfy all conditions. A series with several of `any` may be passed more
 * than once. */
bool series_query_pairs(const struct series_query *query, series_batch_fn *on_batch, void *self,
			struct err *err) MUST_CHECK;

/* Passes the series of the type that have one of these ids (ascending). `must` and `any` are
 * ignored. */
bool series_query_ids(const struct series_query *query, const int64_t *ids, size_t count,
		      series_batch_fn *on_batch, void *self, struct err *err) MUST_CHECK;

/*
 * Estimates how many series of these days satisfy `matches_pairs`, from a few hundred series per
 * day: ids are hashes, so the series with the lowest ids from 0 on are a random sample, and the
 * range of their ids gives the density of all series. Only the days of the query are used; `self`
 * is passed to matches_pairs().
 */
bool series_query_estimate(const struct series_query *query,
			   bool (*matches_pairs)(const void *self,
						 const struct stored_series *series),
			   const void *self, uint64_t *ret_count, struct err *err) MUST_CHECK;
