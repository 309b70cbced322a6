// SPDX-License-Identifier: Apache-2.0
#include "store/limits.h"
#include "store/series/series_query_internal.h"

static bool series_of_row(const struct postgres_rows *rows, size_t row, struct arena *arena,
			  struct stored_series *ret_series, struct err *err)
{
	struct stored_series series = {
		.id = (uint64_t)postgres_get_i64(rows, row, 0),
		.day = postgres_get_i64(rows, row, 2),
	};
	int64_t *pairs;

	if (!postgres_i64s_read(postgres_get(rows, row, 1), arena, &pairs, &series.count))
		return err_set(err, ERR_CORRUPT, "the pairs of a stored series are not an array");
	series.pairs = pairs;
	*ret_series = series;
	return true;
}

static bool series_of_rows(const struct postgres_rows *rows, struct arena *arena,
			   struct stored_series **ret_series, struct err *err)
{
	*ret_series = arena_array(arena, struct stored_series, rows->count);
	for (size_t i = 0; i < rows->count; i++)
		if (!series_of_row(rows, i, arena, &(*ret_series)[i], err))
			return false;
	return true;
}

static bool pass_rows(const struct postgres_rows *rows, series_batch_fn *on_batch, void *self,
		      struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct stored_series *series = NULL;

	return series_of_rows(rows, &arena, &series, err) &&
	       on_batch(self, series, rows->count, err);
}

static bool fetch_all(const struct series_query *query, series_batch_fn *on_batch, void *self,
		      struct err *err)
{
	_Static_assert(SERIES_AT_ONCE == 10000, "as in the SQL below");
	size_t count;

	do {
		CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

		if (!store_bounds_check(query->bounds, err) ||
		    !postgres_query(query->pg, "FETCH 10000 FROM found_series", NULL, 0, &rows,
				    err) ||
		    !pass_rows(&rows, on_batch, self, err))
			return false;
		count = rows.count;
	} while (count);
	return postgres_exec(query->pg, "CLOSE found_series", err);
}

/*
 * GIN is slow with many keys at once, since it tests each key for each series: a few keys at a
 * time. Most series often have the same type, and testing the type would read the whole index.
 */
bool series_query_pairs(const struct series_query *query, series_batch_fn *on_batch, void *self,
			struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows declared = { 0 };
	struct buf sql = { .arena = &arena };
	bool by_type = query->has_type && !query->must_count && !query->any_count;
	const struct postgres_param params[] = {
		postgres_date(&arena, query->first_day),
		postgres_date(&arena, query->last_day),
		by_type ? postgres_i64s(&arena, &query->type, 1)
			: postgres_i64s(&arena, query->must, query->must_count),
		postgres_i64(&arena, query->type),
		postgres_i64s(&arena, query->any, query->any_count),
	};

	_Static_assert(MATCH_PAIRS_AT_ONCE == 32, "as in the SQL below");
	buf_format(&sql,
		   "DECLARE found_series NO SCROLL CURSOR FOR "
		   "SELECT id, pairs, day - DATE '1970-01-01' FROM %sseries "
		   "WHERE day BETWEEN $1 AND $2%s%s%s",
		   query->any_count ? "generate_series(1, cardinality($5::bigint[]), 32) AS at, "
				    : "",
		   query->any_count ? " AND pairs && ($5::bigint[])[at:at + 31]" : "",
		   by_type || query->must_count ? " AND pairs @> $3" : "",
		   query->has_type ? " AND $4 = ANY (pairs)" : "");
	buf_u8(&sql, '\0');
	return postgres_query(query->pg, sql.ptr, params, ARRAY_LEN(params), &declared, err) &&
	       fetch_all(query, on_batch, self, err);
}

/* One statement per day: the index starts with the day, and finds many ids of one day at once. */
bool series_query_ids(const struct series_query *query, const int64_t *ids, size_t count,
		      series_batch_fn *on_batch, void *self, struct err *err)
{
	static const char of_type[] = "SELECT id, pairs, day - DATE '1970-01-01' FROM series "
				      "WHERE day = $1 AND id = ANY ($2) AND $3 = ANY (pairs)";
	static const char of_any[] = "SELECT id, pairs, day - DATE '1970-01-01' FROM series "
				     "WHERE day = $1 AND id = ANY ($2)";
	const char *sql = query->has_type ? of_type : of_any;

	for (int64_t day = query->first_day; day <= query->last_day; day++) {
		for (size_t at = 0; at < count; at += SERIES_AT_ONCE) {
			AUTO_ARENA arena = { 0 };
			CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
			size_t left = count - at;
			const struct postgres_param params[] = {
				postgres_date(&arena, day),
				postgres_i64s(&arena, &ids[at],
					      left < SERIES_AT_ONCE ? left : SERIES_AT_ONCE),
				postgres_i64(&arena, query->type),
			};

			if (!store_bounds_check(query->bounds, err) ||
			    !postgres_query(query->pg, sql, params, query->has_type ? 3 : 2, &rows,
					    err) ||
			    !pass_rows(&rows, on_batch, self, err))
				return false;
		}
	}
	return true;
}

/* Ids are signed, and half of them are not negative. */
static uint64_t estimate_of(const struct stored_series *series, size_t count, uint64_t matching)
{
	if (count < SERIES_SAMPLED)
		return matching * 2;
	return matching * (UINT64_MAX / (series[count - 1].id + 1));
}

bool series_query_estimate(const struct series_query *query,
			   bool (*matches_pairs)(const void *self,
						 const struct stored_series *series),
			   const void *self, uint64_t *ret_count, struct err *err)
{
	_Static_assert(SERIES_SAMPLED == 256, "as in the SQL below");
	static const char sql[] = "SELECT id, pairs, day - DATE '1970-01-01' FROM series "
				  "WHERE day = $1 AND id >= 0 ORDER BY id LIMIT 256";
	uint64_t all = 0;

	for (int64_t day = query->first_day; day <= query->last_day; day++) {
		AUTO_ARENA arena = { 0 };
		CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
		const struct postgres_param param = postgres_date(&arena, day);
		struct stored_series *series = NULL;
		uint64_t matching = 0;

		if (!postgres_query(query->pg, sql, &param, 1, &rows, err) ||
		    !series_of_rows(&rows, &arena, &series, err))
			return false;
		for (size_t i = 0; i < rows.count; i++)
			matching += matches_pairs(self, &series[i]);
		all += estimate_of(series, rows.count, matching);
	}
	*ret_count = all;
	return true;
}
