// SPDX-License-Identifier: Apache-2.0
#include "store/series_find.h"

#include "base/vec.h"
#include "profile/sample_set.h"
#include "store/label_pair.h"
#include "store/limits.h"

_Static_assert(SERIES_BUCKETS == ARRAY_LEN(((struct found *)0)->buckets), "a flag per bucket");

struct finder {
	struct postgres *pg;
	const struct selector *selector;
	const struct store_bounds *bounds;
	struct found *found;
	struct arena scratch;
	struct postgres_param days[2];
	struct map pairs;      /* 8 bytes of id to struct label */
	uint32_t maybe_sample; /* bit i: samples have labels of matcher i's name */
};

const struct found_series *found_get(const struct found *found, uint64_t id)
{
	return map_get(&found->by_id, (str){ (const char *)&id, sizeof(id) });
}

bool sample_label_names(struct postgres *pg, int64_t first_day, int64_t last_day,
			struct arena *arena, str **ret_names, size_t *ret_count, struct err *err)
{
	static const char sql[] = "SELECT DISTINCT value FROM label_pair "
				  "WHERE day BETWEEN $1 AND $2 AND name = $3 ORDER BY value";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		postgres_date(arena, first_day),
		postgres_date(arena, last_day),
		postgres_text(PAIR_SAMPLE),
	};

	if (!postgres_query(pg, sql, params, ARRAY_LEN(params), &rows, err))
		return false;
	*ret_names = arena_array(arena, str, rows.count);
	*ret_count = rows.count;
	for (size_t i = 0; i < rows.count; i++)
		(*ret_names)[i] = str_copy(arena, postgres_get(&rows, i, 0));
	return true;
}

static bool find_maybe_sample(struct finder *finder, int64_t first_day, int64_t last_day,
			      struct err *err)
{
	str *names = NULL;
	size_t count = 0;

	if (!finder->selector)
		return true;
	if (!sample_label_names(finder->pg, first_day, last_day, &finder->scratch, &names, &count,
				err))
		return false;
	for (size_t i = 0; i < finder->selector->matcher_count; i++)
		for (size_t j = 0; j < count; j++)
			if (str_eq(finder->selector->matchers[i].name, names[j]))
				finder->maybe_sample |= UINT32_C(1) << i;
	return true;
}

/*
 * A regex becomes the pairs it matches where they are few: the index finds the union of few pairs,
 * while it goes through the table for many, so that the series are better looked at here.
 */
static bool pairs_of_matcher(struct finder *finder, const struct matcher *matcher,
			     int64_t *ret_pairs, size_t *ret_count, struct err *err)
{
	static const char sql[] = "SELECT DISTINCT id, value FROM label_pair "
				  "WHERE day BETWEEN $1 AND $2 AND name = $3";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = { finder->days[0], finder->days[1],
						 postgres_text(matcher->name) };
	size_t count = 0;

	if (!postgres_query(finder->pg, sql, params, ARRAY_LEN(params), &rows, err))
		return false;
	for (size_t i = 0; i < rows.count && count <= MATCH_PAIRS_SENT_MAX; i++) {
		bool matches;

		if (!store_bounds_hold(finder->bounds, err) ||
		    !matcher_matches(matcher, postgres_get(&rows, i, 1), &matches, err))
			return false;
		if (matches && count < MATCH_PAIRS_SENT_MAX)
			ret_pairs[count] = postgres_get_i64(&rows, i, 0);
		count += matches;
	}
	*ret_count = count;
	return true;
}

/*
 * SELECT of the series that can match: all that the index can say. Parameters are the days, the
 * pairs that must be there, and for each regex the pairs of which one must be.
 */
struct series_query {
	struct buf sql;
	struct postgres_param params[3 + MATCHERS_MAX];
	size_t param_count;
	VEC(int64_t) must;
	bool is_void; /* nothing can match */
};

static bool add_matcher(struct finder *finder, const struct matcher *matcher,
			struct series_query *query, struct err *err)
{
	struct arena *scratch = &finder->scratch;
	int64_t pairs[MATCH_PAIRS_SENT_MAX];
	size_t count = 0;

	if (matcher->op == MATCH_EQ)
		*vec_push(scratch, &query->must) =
			label_pair_id(matcher->name, matcher->value, scratch);
	if (matcher->op != MATCH_RE)
		return true;
	if (!pairs_of_matcher(finder, matcher, pairs, &count, err))
		return false;
	query->is_void = query->is_void || count == 0;
	if (count > MATCH_PAIRS_SENT_MAX)
		return true;
	query->params[query->param_count++] = postgres_i64s(scratch, pairs, count);
	buf_format(&query->sql, " AND pairs && $%zu", query->param_count);
	return true;
}

static bool build_query(struct finder *finder, struct series_query *query, struct err *err)
{
	const struct selector *selector = finder->selector;

	query->sql.arena = &finder->scratch;
	query->params[0] = finder->days[0];
	query->params[1] = finder->days[1];
	query->param_count = 3;
	buf_format(&query->sql, "DECLARE found_series NO SCROLL CURSOR FOR SELECT id, pairs "
				"FROM series WHERE day BETWEEN $1 AND $2 AND pairs @> $3");
	if (selector)
		*vec_push(&finder->scratch, &query->must) =
			label_pair_id(PAIR_TYPE, selector->type, &finder->scratch);
	for (size_t i = 0; selector && i < selector->matcher_count; i++) {
		const struct matcher *matcher = &selector->matchers[i];
		bool indexed = !(finder->maybe_sample >> i & 1) && !matcher_matches_empty(matcher);

		if (indexed && !add_matcher(finder, matcher, query, err))
			return false;
	}
	query->params[2] = postgres_i64s(&finder->scratch, query->must.items, query->must.len);
	buf_u8(&query->sql, '\0');
	return true;
}

/* Names and values of the pairs that were not met before. */
static bool load_pairs(struct finder *finder, const int64_t *ids, size_t count, struct err *err)
{
	static const char sql[] = "SELECT DISTINCT ON (id) id, name, value FROM label_pair "
				  "WHERE day BETWEEN $1 AND $2 AND id = ANY ($3)";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		finder->days[0],
		finder->days[1],
		postgres_i64s(&finder->scratch, ids, count),
	};
	struct arena *arena = finder->found->arena;

	if (count == 0)
		return true;
	if (!postgres_query(finder->pg, sql, params, ARRAY_LEN(params), &rows, err))
		return false;
	for (size_t i = 0; i < rows.count; i++) {
		struct label *label = arena_new(arena, struct label);
		int64_t id = postgres_get_i64(&rows, i, 0);

		label->name = str_copy(arena, postgres_get(&rows, i, 1));
		label->value = str_copy(arena, postgres_get(&rows, i, 2));
		*map_at(&finder->pairs, str_copy(arena, (str){ (const char *)&id, sizeof(id) })) =
			label;
	}
	return true;
}

static bool pairs_of_row(const struct postgres_rows *rows, size_t row, struct arena *arena,
			 int64_t **ret_pairs, size_t *ret_count, struct err *err)
{
	return postgres_i64s_read(postgres_get(rows, row, 1), arena, ret_pairs, ret_count) ||
	       err_set(err, ERR_INVALID, "the pairs of a stored series are not an array");
}

static bool load_pairs_of_rows(struct finder *finder, const struct postgres_rows *rows,
			       struct err *err)
{
	struct map asked = { .arena = &finder->scratch };
	VEC(int64_t) unknown = { 0 };

	for (size_t i = 0; i < rows->count; i++) {
		int64_t *pairs = NULL;
		size_t count = 0;

		if (!pairs_of_row(rows, i, &finder->scratch, &pairs, &count, err))
			return false;
		for (size_t j = 0; j < count; j++) {
			str key = { (const char *)&pairs[j], sizeof(pairs[j]) };

			if (map_get(&finder->pairs, key))
				continue;

			void **seen = map_at(&asked, key);

			if (!*seen)
				*vec_push(&finder->scratch, &unknown) = pairs[j];
			*seen = finder;
		}
	}
	return load_pairs(finder, unknown.items, unknown.len, err);
}

static bool series_labels(struct finder *finder, const struct postgres_rows *rows, size_t row,
			  struct found_series *series, struct err *err)
{
	int64_t *pairs = NULL;
	size_t count = 0, len = 0;

	if (!pairs_of_row(rows, row, &finder->scratch, &pairs, &count, err))
		return false;

	struct label *labels = arena_array(finder->found->arena, struct label, count);

	for (size_t i = 0; i < count; i++) {
		const struct label *label =
			map_get(&finder->pairs, (str){ (const char *)&pairs[i], sizeof(pairs[i]) });

		if (!label)
			return err_set(err, ERR_INVALID,
				       "a stored series has a label pair that is "
				       "not in label_pair");
		if (str_eq(label->name, PAIR_TYPE))
			series->type = label->value;
		else
			labels[len++] = *label;
	}
	series->labels = labels_of(labels, len);
	return true;
}

static bool series_matches(const struct finder *finder, struct found_series *series,
			   bool *ret_matches, struct err *err)
{
	const struct selector *selector = finder->selector;

	*ret_matches = !selector || str_eq(series->type, selector->type);
	for (size_t i = 0; selector && *ret_matches && i < selector->matcher_count; i++) {
		const struct matcher *matcher = &selector->matchers[i];
		str value = labels_get(series->labels, matcher->name);

		if (!value.ptr && finder->maybe_sample >> i & 1)
			series->open |= UINT32_C(1) << i;
		else if (!matcher_matches(matcher, value.ptr ? value : STR(""), ret_matches, err))
			return false;
	}
	return true;
}

static bool take_rows(struct finder *finder, const struct postgres_rows *rows, struct err *err)
{
	struct found *found = finder->found;

	if (!load_pairs_of_rows(finder, rows, err))
		return false;
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t id = (uint64_t)postgres_get_i64(rows, i, 0);
		struct found_series series = { 0 };
		bool matches;

		if (found_get(found, id))
			continue;
		if (!store_bounds_hold(finder->bounds, err))
			return false;
		if (!series_labels(finder, rows, i, &series, err) ||
		    !series_matches(finder, &series, &matches, err))
			return false;
		if (!matches)
			continue;

		struct found_series *kept = arena_new(found->arena, struct found_series);

		*kept = series;
		*map_at(&found->by_id,
			str_copy(found->arena, (str){ (const char *)&id, sizeof(id) })) = kept;
		found->buckets[series_bucket(series.labels)] = true;
	}
	return found->arena->held <= QUERY_SERIES_BYTES_MAX ||
	       err_set(err, ERR_LIMIT, "the selector means too many series for one query");
}

static bool take_all(struct finder *finder, struct err *err)
{
	for (;;) {
		CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

		if (!postgres_query(finder->pg, "FETCH 10000 FROM found_series", NULL, 0, &rows,
				    err) ||
		    !take_rows(finder, &rows, err))
			return false;
		if (rows.count == 0)
			return postgres_exec(finder->pg, "CLOSE found_series", err);
	}
}

bool series_find(struct postgres *pg, const struct selector *selector, int64_t first_day,
		 int64_t last_day, const struct store_bounds *bounds, struct found *found,
		 struct err *err)
{
	struct finder finder = { .pg = pg, .selector = selector, .bounds = bounds, .found = found };
	struct series_query query = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows declared = { 0 };

	found->by_id.arena = found->arena;
	finder.pairs.arena = found->arena;
	finder.days[0] = postgres_date(&finder.scratch, first_day);
	finder.days[1] = postgres_date(&finder.scratch, last_day);

	bool good = find_maybe_sample(&finder, first_day, last_day, err) &&
		    build_query(&finder, &query, err);

	if (good && !query.is_void)
		good = postgres_query(pg, query.sql.ptr, query.params, query.param_count, &declared,
				      err) &&
		       take_all(&finder, err);
	arena_free(&finder.scratch);
	return good;
}
