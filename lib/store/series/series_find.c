// SPDX-License-Identifier: Apache-2.0
#include "store/series/series_find.h"

#include "base/vec.h"
#include "profile/sample_set.h"
#include "store/label_pair.h"
#include "store/limits.h"
#include "store/series/label_projection_internal.h"
#include "store/series/pair_predicate_internal.h"
#include "store/series/series_query_internal.h"
#include "store/series/series_window_internal.h"

_Static_assert(SERIES_BUCKETS == ARRAY_LEN(((struct matched_series *)0)->buckets),
	       "a flag per bucket");

struct finder {
	struct store_reader *reader;
	struct postgres *pg; /* of the reader, as are the bounds */
	const struct store_bounds *bounds;
	const struct selector *selector;
	const struct store_window *window;
	struct matched_series *matched;
	struct arena scratch;
	struct postgres_param days[2];
	struct label_projection projection;
	uint32_t maybe_sample; /* bit i: samples have labels of matcher i's name */
	struct pair_predicate predicates[MATCHERS_MAX];
	const struct pair_predicate *sent; /* the predicate of several pairs that the index tests */
	bool is_void;                      /* nothing can match */
	bool has_labels;                   /* labels of series are read */
};

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

static bool find_maybe_sample(struct finder *finder, struct err *err)
{
	const struct store_window *window = finder->window;
	str *names = NULL;
	size_t count = 0;

	if (!finder->selector)
		return true;
	if (!sample_label_names(finder->pg, window->first_day, window->last_day, &finder->scratch,
				&names, &count, err))
		return false;
	for (size_t i = 0; i < finder->selector->matcher_count; i++)
		for (size_t j = 0; j < count; j++)
			if (str_eq(finder->selector->matchers[i].name, names[j]))
				finder->maybe_sample |= UINT32_C(1) << i;
	return true;
}

static bool can_send(const struct pair_predicate *predicate)
{
	return predicate->is_resolved && !predicate->excludes &&
	       predicate->count <= MATCH_PAIRS_SENT_MAX;
}

static bool is_indexed(const struct finder *finder)
{
	for (size_t i = 0; i < finder->selector->matcher_count; i++)
		if (can_send(&finder->predicates[i]))
			return true;
	return false;
}

/*
 * Resolves predicates by reading values if that is cheap: the label has few values, or the values
 * have a common prefix; and in any case if the index could not test anything else. The remaining
 * matchers are tested on the series that are found.
 */
static bool load_predicates(struct finder *finder, bool with_prefix, struct err *err)
{
	const struct pair_value_source source = {
		.pg = finder->pg,
		.bounds = finder->bounds,
		.days = finder->days,
		.arena = &finder->scratch,
	};

	for (size_t i = 0; i < finder->selector->matcher_count; i++) {
		const struct matcher *matcher = &finder->selector->matchers[i];
		struct pair_predicate *predicate = &finder->predicates[i];
		size_t most = is_indexed(finder) ? MATCH_PAIRS_SENT_MAX : 0;

		if (predicate->is_resolved || finder->maybe_sample >> i & 1 ||
		    pair_predicate_has_prefix(matcher, &finder->scratch) != with_prefix)
			continue;
		if (!pair_predicate_load(predicate, matcher, &source, most, err))
			return false;
	}
	return true;
}

static bool make_predicates(struct finder *finder, struct err *err)
{
	size_t count = finder->selector ? finder->selector->matcher_count : 0;

	for (size_t i = 0; i < count; i++)
		if (!(finder->maybe_sample >> i & 1))
			pair_predicate_from_literals(&finder->predicates[i],
						     &finder->selector->matchers[i],
						     &finder->scratch);
	if (count && (!load_predicates(finder, true, err) || !load_predicates(finder, false, err)))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pair_predicate *predicate = &finder->predicates[i];

		if (!can_send(predicate))
			continue;
		finder->is_void = finder->is_void || predicate->count == 0;
		if (predicate->count > 1 &&
		    (!finder->sent || predicate->count < finder->sent->count))
			finder->sent = predicate;
	}
	return true;
}

/* The conditions that the index can test. */
static struct series_query make_query(struct finder *finder)
{
	const struct selector *selector = finder->selector;
	const struct pair_predicate *sent = finder->sent;
	struct series_query query = {
		.pg = finder->pg,
		.bounds = finder->bounds,
		.first_day = finder->window->first_day,
		.last_day = finder->window->last_day,
		.any = sent ? sent->ids : NULL,
		.any_count = sent ? sent->count : 0,
		.has_type = selector,
	};
	VEC(int64_t) must = { 0 };

	for (size_t i = 0; selector && i < selector->matcher_count; i++)
		if (can_send(&finder->predicates[i]) && finder->predicates[i].count == 1)
			*vec_push(&finder->scratch, &must) = finder->predicates[i].ids[0];
	if (selector)
		query.type = label_pair_id(PAIR_TYPE, selector->type, &finder->scratch);
	query.must = must.items;
	query.must_count = must.len;
	return query;
}

/* The predicate on service_name, which determines the buckets; NULL: there is none. */
static const struct pair_predicate *service_predicate(const struct finder *finder)
{
	const struct selector *selector = finder->selector;

	for (size_t i = 0; selector && i < selector->matcher_count; i++)
		if (can_send(&finder->predicates[i]) &&
		    str_eq(selector->matchers[i].name, STR("service_name")))
			return &finder->predicates[i];
	return NULL;
}

/*
 * The labels to read: those of the projection, and those of matchers without a predicate. The label
 * service_name, which determines the bucket, is worth reading as well, unless the index tests
 * nothing: then series of all buckets match.
 */
static bool init_projection(struct finder *finder, struct err *err)
{
	const struct matched_series *matched = finder->matched;
	const struct selector *selector = finder->selector;
	VEC(str) names = { 0 };

	finder->has_labels = true;
	if (!selector || !matched->limits_series_labels)
		return true;
	for (size_t i = 0; i < matched->label_count; i++)
		*vec_push(&finder->scratch, &names) = matched->label_names[i];
	for (size_t i = 0; i < selector->matcher_count; i++)
		if (!finder->predicates[i].is_resolved)
			*vec_push(&finder->scratch, &names) = selector->matchers[i].name;
	finder->has_labels = names.len || (is_indexed(finder) && !service_predicate(finder));
	if (!finder->has_labels)
		return true;
	*vec_push(&finder->scratch, &names) = STR("service_name");
	return label_projection_limit(&finder->projection, names.items, names.len, finder->days,
				      err);
}

static bool predicates_match(const struct finder *finder, const struct stored_series *series)
{
	for (size_t i = 0; finder->selector && i < finder->selector->matcher_count; i++)
		if (finder->predicates[i].is_resolved &&
		    !pair_predicate_matches(&finder->predicates[i], series->pairs, series->count))
			return false;
	return true;
}

/* Tests the matchers without a predicate. */
static bool values_match(const struct finder *finder, struct series_match *series,
			 bool *ret_matches, struct err *err)
{
	const struct selector *selector = finder->selector;

	*ret_matches = true;
	for (size_t i = 0; selector && *ret_matches && i < selector->matcher_count; i++) {
		const struct matcher *matcher = &selector->matchers[i];
		str value = labels_get(series->labels, matcher->name);

		if (finder->predicates[i].is_resolved)
			continue;
		/* An expression may take milliseconds per value. */
		if (!value.ptr && finder->maybe_sample >> i & 1)
			series->open |= UINT32_C(1) << i;
		else if (!store_bounds_check(finder->bounds, err) ||
			 !matcher_matches(matcher, value.ptr ? value : STR(""), ret_matches, err))
			return false;
	}
	return true;
}

/* The buckets that can contain rows of the series. */
static void set_buckets(const struct finder *finder, bool *buckets)
{
	const struct pair_predicate *predicate = service_predicate(finder);

	for (size_t i = 0; predicate && i < predicate->count; i++) {
		struct label label = { STR("service_name"), predicate->values[i] };

		buckets[series_bucket((struct labels){ &label, 1 })] = true;
	}
	if (!predicate)
		memset(buckets, true, SERIES_BUCKETS * sizeof(*buckets));
}

static void add_match(struct finder *finder, uint64_t id, const struct series_match *series)
{
	struct matched_series *matched = finder->matched;
	struct series_match *kept = arena_new(matched->arena, struct series_match);

	*kept = *series;
	*map_at(&matched->by_id, str_copy(matched->arena, (str){ (const char *)&id, sizeof(id) })) =
		kept;
	if (finder->has_labels)
		matched->buckets[series_bucket(series->labels)] = true;
}

static bool add_candidate(struct finder *finder, const struct stored_series *candidate,
			  struct err *err)
{
	struct series_match series = { 0 };
	bool matches = true;

	if (finder->has_labels && (!label_projection_of(&finder->projection, candidate,
							&series.type, &series.labels, err) ||
				   !values_match(finder, &series, &matches, err)))
		return false;
	if (finder->selector)
		series.type = finder->selector->type;
	if (matches)
		add_match(finder, candidate->id, &series);
	return true;
}

static bool add_series(void *self, struct stored_series *series, size_t count, struct err *err)
{
	struct finder *finder = self;
	struct matched_series *matched = finder->matched;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!matched_series_get(matched, series[i].id) &&
		    predicates_match(finder, &series[i]))
			series[kept++] = series[i];
	if (finder->has_labels &&
	    !label_projection_load(&finder->projection, series, kept, finder->bounds, err))
		return false;
	for (size_t i = 0; i < kept; i++)
		if (!add_candidate(finder, &series[i], err))
			return false;
	return matched->arena->size <= QUERY_SERIES_BYTES_MAX ||
	       err_set(err, ERR_LIMIT, "the selector matches too many series for one query");
}

/* The conditions on the pairs of a series. */
struct type_and_predicates {
	const struct finder *finder;
	const struct series_query *query;
};

static bool matches_pairs(const void *self, const struct stored_series *series)
{
	const struct type_and_predicates *filter = self;
	bool is_of_type = !filter->query->has_type;

	for (size_t i = 0; i < series->count; i++)
		is_of_type = is_of_type || series->pairs[i] == filter->query->type;
	return is_of_type && predicates_match(filter->finder, series);
}

/*
 * The index has series by the day, and may return a hundred times as many as have rows in a short
 * window. If it would return many, the directories of the window's rows are read first; if they
 * have few series, these are looked up by their ids.
 */
static bool find_few(struct finder *finder, const struct series_query *query, int64_t **ret_ids,
		     size_t *ret_count, bool *ret_is_few, struct err *err)
{
	const struct store_window *window = finder->window;
	const struct type_and_predicates filter = { finder, query };
	uint64_t estimate;
	bool buckets[SERIES_BUCKETS] = { 0 };
	struct series_window request = {
		.reader = finder->reader,
		.window = window,
		.buckets = buckets,
	};

	*ret_is_few = false;
	if (window->end_ms - window->start_ms > SERIES_WINDOW_MS_MAX)
		return true;
	if (!series_query_estimate(query, matches_pairs, &filter, &estimate, err))
		return false;
	if (estimate < SERIES_MANY)
		return true;
	set_buckets(finder, buckets);
	request.max =
		estimate / 2 < SERIES_OF_WINDOW_MAX ? (size_t)estimate / 2 : SERIES_OF_WINDOW_MAX;
	return series_window_read(&request, &finder->scratch, ret_ids, ret_count, ret_is_few, err);
}

static bool find_all(struct finder *finder, struct err *err)
{
	const struct series_query query = make_query(finder);
	int64_t *ids = NULL;
	size_t count = 0;
	bool is_few;

	if (!find_few(finder, &query, &ids, &count, &is_few, err))
		return false;
	return is_few ? series_query_ids(&query, ids, count, add_series, finder, err)
		      : series_query_pairs(&query, add_series, finder, err);
}

bool series_find(struct store_reader *reader, const struct selector *selector,
		 const struct store_window *window, struct matched_series *matched, struct err *err)
{
	struct finder finder = {
		.reader = reader,
		.pg = &reader->pg,
		.bounds = &reader->bounds,
		.selector = selector,
		.window = window,
		.matched = matched,
	};
	uint64_t began_ns = clock_monotonic_ns();

	matched->by_id.arena = matched->arena;
	label_projection_init(&finder.projection, finder.pg, matched->arena);
	finder.days[0] = postgres_date(&finder.scratch, window->first_day);
	finder.days[1] = postgres_date(&finder.scratch, window->last_day);

	bool good = find_maybe_sample(&finder, err) && make_predicates(&finder, err) &&
		    init_projection(&finder, err);

	if (good && !finder.is_void) {
		if (!finder.has_labels)
			set_buckets(&finder, matched->buckets);
		good = find_all(&finder, err);
	}
	label_projection_done(&finder.projection);
	arena_free(&finder.scratch);
	reader->stats.find_ns += clock_monotonic_ns() - began_ns;
	reader->stats.series += matched->by_id.len;
	return good;
}
