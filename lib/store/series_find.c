// SPDX-License-Identifier: Apache-2.0
#include "store/series_find.h"

#include "base/vec.h"
#include "profile/sample_set.h"
#include "store/label_pair.h"
#include "store/limits.h"
#include "store/pair_choice.h"
#include "store/pair_pick.h"

_Static_assert(SERIES_BUCKETS == ARRAY_LEN(((struct found *)0)->buckets), "a flag per bucket");

struct finder {
	struct postgres *pg;
	const struct selector *selector;
	const struct store_bounds *bounds;
	struct found *found;
	struct arena scratch;
	struct postgres_param days[2];
	struct pair_pick pick;
	uint32_t maybe_sample; /* bit i: samples have labels of matcher i's name */
	struct pair_choice choices[MATCHERS_MAX];
	const struct pair_choice *sent; /* the one of several pairs that the index is asked for */
	bool is_void;                   /* nothing can match */
	bool has_labels;                /* some or all are looked at */
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

static bool can_send(const struct pair_choice *choice)
{
	return choice->is_made && !choice->forbids && choice->count <= MATCH_PAIRS_SENT_MAX;
}

static bool is_indexed(const struct finder *finder)
{
	for (size_t i = 0; i < finder->selector->matcher_count; i++)
		if (can_send(&finder->choices[i]))
			return true;
	return false;
}

/*
 * Values are looked up where that is cheap: a label has few, or the expression says how they begin;
 * and in any case where the index could not be asked for anything else. What is left is tried on
 * the series that are found.
 */
static bool look_up_choices(struct finder *finder, bool with_prefix, struct err *err)
{
	const struct pair_source source = {
		.pg = finder->pg,
		.bounds = finder->bounds,
		.days = finder->days,
		.arena = &finder->scratch,
	};

	for (size_t i = 0; i < finder->selector->matcher_count; i++) {
		const struct matcher *matcher = &finder->selector->matchers[i];
		struct pair_choice *choice = &finder->choices[i];
		size_t most = is_indexed(finder) ? MATCH_PAIRS_SENT_MAX : 0;

		if (choice->is_made || finder->maybe_sample >> i & 1 ||
		    pair_choice_has_prefix(matcher, &finder->scratch) != with_prefix)
			continue;
		if (!pair_choice_look_up(choice, matcher, &source, most, err))
			return false;
	}
	return true;
}

static bool make_choices(struct finder *finder, struct err *err)
{
	size_t count = finder->selector ? finder->selector->matcher_count : 0;

	for (size_t i = 0; i < count; i++)
		if (!(finder->maybe_sample >> i & 1))
			pair_choice_plain(&finder->choices[i], &finder->selector->matchers[i],
					  &finder->scratch);
	if (count && (!look_up_choices(finder, true, err) || !look_up_choices(finder, false, err)))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pair_choice *choice = &finder->choices[i];

		if (!can_send(choice))
			continue;
		finder->is_void = finder->is_void || choice->count == 0;
		if (choice->count > 1 && (!finder->sent || choice->count < finder->sent->count))
			finder->sent = choice;
	}
	return true;
}

/* SELECT of the series that can match: all that the index can say. */
struct series_query {
	struct buf sql;
	struct postgres_param params[5];
	VEC(int64_t) must; /* pairs that must all be there */
};

/*
 * GIN gets slow with many keys at once, since it asks each for each series: a few at a time. The
 * type is most often that of all series, and asking the index for it would read it whole.
 */
static void build_query(struct finder *finder, struct series_query *query)
{
	struct arena *scratch = &finder->scratch;
	const struct selector *selector = finder->selector;
	const struct pair_choice *sent = finder->sent;
	int64_t type = selector ? label_pair_id(PAIR_TYPE, selector->type, scratch) : 0;

	for (size_t i = 0; selector && i < selector->matcher_count; i++)
		if (can_send(&finder->choices[i]) && finder->choices[i].count == 1)
			*vec_push(scratch, &query->must) = finder->choices[i].ids[0];
	if (selector && !query->must.len && !sent)
		*vec_push(scratch, &query->must) = type;
	query->sql.arena = scratch;
	query->params[0] = finder->days[0];
	query->params[1] = finder->days[1];
	query->params[2] = postgres_i64s(scratch, query->must.items, query->must.len);
	query->params[3] = postgres_i64(scratch, type);
	query->params[4] = postgres_i64s(scratch, sent ? sent->ids : NULL, sent ? sent->count : 0);
	_Static_assert(MATCH_PAIRS_AT_ONCE == 32, "said in the statement below");
	buf_format(&query->sql,
		   "DECLARE found_series NO SCROLL CURSOR FOR "
		   "SELECT id, pairs, day - DATE '1970-01-01' FROM %sseries "
		   "WHERE day BETWEEN $1 AND $2%s%s%s",
		   sent ? "generate_series(1, cardinality($5::bigint[]), 32) AS at, " : "",
		   sent ? " AND pairs && ($5::bigint[])[at:at + 31]" : "",
		   query->must.len ? " AND pairs @> $3" : "",
		   selector ? " AND $4 = ANY (pairs)" : "");
	buf_u8(&query->sql, '\0');
}

/* Labels that the answer shows, that matchers are tried on, and that say where rows are. */
static bool begin_pick(struct finder *finder, struct err *err)
{
	const struct found *found = finder->found;
	const struct selector *selector = finder->selector;
	VEC(str) names = { 0 };

	finder->has_labels = true;
	if (!selector || !found->few_labels)
		return true;
	for (size_t i = 0; i < found->label_count; i++)
		*vec_push(&finder->scratch, &names) = found->label_names[i];
	for (size_t i = 0; i < selector->matcher_count; i++)
		if (!finder->choices[i].is_made)
			*vec_push(&finder->scratch, &names) = selector->matchers[i].name;
	finder->has_labels = names.len;
	if (names.len == 0)
		return true;
	*vec_push(&finder->scratch, &names) = STR("service_name");
	return pair_pick_some(&finder->pick, names.items, names.len, finder->days, err);
}

static bool pairs_of_row(const struct postgres_rows *rows, size_t row, struct arena *arena,
			 struct pick_series *ret_series, struct err *err)
{
	struct pick_series series = {
		.id = (uint64_t)postgres_get_i64(rows, row, 0),
		.day = postgres_get_i64(rows, row, 2),
	};
	int64_t *pairs;

	if (!postgres_i64s_read(postgres_get(rows, row, 1), arena, &pairs, &series.count))
		return err_set(err, ERR_INVALID, "the pairs of a stored series are not an array");
	series.pairs = pairs;
	*ret_series = series;
	return true;
}

static bool choices_admit(const struct finder *finder, const struct pick_series *series)
{
	for (size_t i = 0; finder->selector && i < finder->selector->matcher_count; i++)
		if (finder->choices[i].is_made &&
		    !pair_choice_admits(&finder->choices[i], series->pairs, series->count))
			return false;
	return true;
}

/* The matchers that have no choice. */
static bool values_match(const struct finder *finder, struct found_series *series,
			 bool *ret_matches, struct err *err)
{
	const struct selector *selector = finder->selector;

	*ret_matches = true;
	for (size_t i = 0; selector && *ret_matches && i < selector->matcher_count; i++) {
		const struct matcher *matcher = &selector->matchers[i];
		str value = labels_get(series->labels, matcher->name);

		if (finder->choices[i].is_made)
			continue;
		if (!value.ptr && finder->maybe_sample >> i & 1)
			series->open |= UINT32_C(1) << i;
		else if (!matcher_matches(matcher, value.ptr ? value : STR(""), ret_matches, err))
			return false;
	}
	return true;
}

/* Where rows of the series are. Without labels it is what the selector says of services, if so. */
static void add_buckets(struct finder *finder)
{
	const struct selector *selector = finder->selector;
	struct found *found = finder->found;

	for (size_t i = 0; selector && i < selector->matcher_count; i++) {
		const struct pair_choice *choice = &finder->choices[i];

		if (!can_send(choice) || !str_eq(selector->matchers[i].name, STR("service_name")))
			continue;
		for (size_t j = 0; j < choice->count; j++) {
			struct label label = { STR("service_name"), choice->values[j] };

			found->buckets[series_bucket((struct labels){ &label, 1 })] = true;
		}
		return;
	}
	memset(found->buckets, true, sizeof(found->buckets));
}

static void keep(struct finder *finder, uint64_t id, const struct found_series *series)
{
	struct found *found = finder->found;
	struct found_series *kept = arena_new(found->arena, struct found_series);

	*kept = *series;
	*map_at(&found->by_id, str_copy(found->arena, (str){ (const char *)&id, sizeof(id) })) =
		kept;
	if (finder->has_labels)
		found->buckets[series_bucket(series->labels)] = true;
}

static bool take_candidate(struct finder *finder, const struct pick_series *candidate,
			   struct err *err)
{
	struct found_series series = { 0 };
	bool matches = true;

	if (!store_bounds_hold(finder->bounds, err))
		return false;
	if (finder->has_labels &&
	    (!pair_pick_of(&finder->pick, candidate, &series.type, &series.labels, err) ||
	     !values_match(finder, &series, &matches, err)))
		return false;
	if (finder->selector)
		series.type = finder->selector->type;
	if (matches)
		keep(finder, candidate->id, &series);
	return true;
}

/* Candidates are those that choices admit. */
static bool take_rows(struct finder *finder, const struct postgres_rows *rows, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct found *found = finder->found;
	struct pick_series *candidates = arena_array(&arena, struct pick_series, rows->count);
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct pick_series *candidate = &candidates[count];

		if (!pairs_of_row(rows, i, &arena, candidate, err))
			return false;
		count += !found_get(found, candidate->id) && choices_admit(finder, candidate);
	}
	if (finder->has_labels &&
	    !pair_pick_load(&finder->pick, candidates, count, finder->bounds, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_candidate(finder, &candidates[i], err))
			return false;
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
	pair_pick_begin(&finder.pick, pg, found->arena);
	finder.days[0] = postgres_date(&finder.scratch, first_day);
	finder.days[1] = postgres_date(&finder.scratch, last_day);

	bool good = find_maybe_sample(&finder, first_day, last_day, err) &&
		    make_choices(&finder, err) && begin_pick(&finder, err);

	if (good && !finder.is_void) {
		build_query(&finder, &query);
		if (!finder.has_labels)
			add_buckets(&finder);
		good = postgres_query(pg, query.sql.ptr, query.params, ARRAY_LEN(query.params),
				      &declared, err) &&
		       take_all(&finder, err);
	}
	pair_pick_done(&finder.pick);
	arena_free(&finder.scratch);
	return good;
}
