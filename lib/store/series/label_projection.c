// SPDX-License-Identifier: Apache-2.0
#include "store/series/label_projection_internal.h"

void label_projection_init(struct label_projection *projection, struct postgres *pg,
			   struct arena *arena)
{
	*projection = (struct label_projection){ .arena = arena };
	pair_labels_init(&projection->labels, pg, arena);
}

void label_projection_done(struct label_projection *projection)
{
	pair_labels_done(&projection->labels);
}

/* LIMIT: one index lookup for each name. A join would read the whole index. */
static const char names_sql[] =
	"SELECT wanted.name FROM unnest($3::text[]) AS wanted (name), LATERAL (SELECT "
	"FROM label_pair WHERE day BETWEEN $1 AND $2 AND name = wanted.name LIMIT 1) AS there";

bool label_projection_limit(struct label_projection *projection, const str *names, size_t count,
			    const struct postgres_param days[2], struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		days[0],
		days[1],
		postgres_texts(projection->arena, names, count),
	};
	str *kept;

	if (count && !postgres_query(projection->labels.pg, names_sql, params, ARRAY_LEN(params),
				     &rows, err))
		return false;
	kept = arena_array(projection->arena, str, rows.count);
	projection->is_limited = true;
	projection->names = kept;
	for (size_t i = 0; i < rows.count; i++) {
		str name = postgres_get(&rows, i, 0);

		if (!label_name_is_reserved(name))
			kept[projection->name_count++] = str_copy(projection->arena, name);
	}
	projection->positions =
		arena_array(projection->arena, uint64_t, PROJECTION_SHAPES * rows.count);
	return true;
}

static size_t shape_of(const struct stored_series *series)
{
	return series->count % PROJECTION_SHAPES;
}

static uint64_t *positions_of(const struct label_projection *projection,
			      const struct stored_series *series, size_t name)
{
	return &projection->positions[shape_of(series) * projection->name_count + name];
}

/* The label of that name at the name's known positions; NULL: not there, or not loaded. */
static const struct label *find_at_positions(const struct label_projection *projection,
					     const struct stored_series *series, size_t name)
{
	for (uint64_t left = *positions_of(projection, series, name); left; left &= left - 1) {
		size_t at = (size_t)__builtin_ctzll(left);
		const struct label *label =
			at < series->count ? pair_labels_get(&projection->labels, series->pairs[at])
					   : NULL;

		if (label && str_eq(label->name, projection->names[name]))
			return label;
	}
	return NULL;
}

/* Series that are read whole, to learn the positions of names. */
struct examples {
	const struct stored_series **items;
	size_t len;
};

static void request_all(struct label_projection *projection, const struct stored_series *series,
			struct examples *examples)
{
	pair_labels_request(&projection->labels, series->day, series->pairs, series->count);
	examples->items[examples->len++] = series;
}

static void request_examples(struct label_projection *projection,
			     const struct stored_series *series, size_t count,
			     struct examples *examples)
{
	for (size_t i = 0; i < count; i++)
		if (projection->examples[shape_of(&series[i])]++ < PROJECTION_EXAMPLES)
			request_all(projection, &series[i], examples);
}

static void request_likely(struct label_projection *projection, const struct stored_series *series,
			   size_t name)
{
	for (uint64_t left = *positions_of(projection, series, name); left; left &= left - 1) {
		size_t at = (size_t)__builtin_ctzll(left);

		if (at < series->count)
			pair_labels_request(&projection->labels, series->day, &series->pairs[at],
					    1);
	}
}

static bool has_all_names(const struct label_projection *projection,
			  const struct stored_series *series)
{
	for (size_t name = 0; name < projection->name_count; name++)
		if (!find_at_positions(projection, series, name))
			return false;
	return true;
}

static void learn_from(struct label_projection *projection, const struct stored_series *series)
{
	for (size_t at = 0; at < series->count && at < 64; at++) {
		const struct label *label = pair_labels_get(&projection->labels, series->pairs[at]);

		for (size_t name = 0; label && name < projection->name_count; name++)
			if (str_eq(label->name, projection->names[name]))
				*positions_of(projection, series, name) |= UINT64_C(1) << at;
	}
}

static bool load(struct label_projection *projection, struct examples *examples,
		 const struct store_bounds *bounds, struct err *err)
{
	if (!pair_labels_load(&projection->labels, bounds, err))
		return false;
	for (size_t i = 0; i < examples->len; i++)
		learn_from(projection, examples->items[i]);
	examples->len = 0;
	return true;
}

static bool load_limited(struct label_projection *projection, const struct stored_series *series,
			 size_t count, const struct store_bounds *bounds, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct examples examples = { arena_array(&arena, const struct stored_series *, count), 0 };

	request_examples(projection, series, count, &examples);
	if (!load(projection, &examples, bounds, err))
		return false;
	for (size_t i = 0; i < count; i++)
		for (size_t name = 0; name < projection->name_count; name++)
			if (!find_at_positions(projection, &series[i], name))
				request_likely(projection, &series[i], name);
	if (!load(projection, &examples, bounds, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!has_all_names(projection, &series[i]))
			request_all(projection, &series[i], &examples);
	return load(projection, &examples, bounds, err);
}

bool label_projection_load(struct label_projection *projection, const struct stored_series *series,
			   size_t count, const struct store_bounds *bounds, struct err *err)
{
	if (projection->is_limited)
		return projection->name_count == 0 ||
		       load_limited(projection, series, count, bounds, err);
	for (size_t i = 0; i < count; i++)
		pair_labels_request(&projection->labels, series[i].day, series[i].pairs,
				    series[i].count);
	return pair_labels_load(&projection->labels, bounds, err);
}

/* *ret_label NULL: all pairs of the series are loaded, and none has that name. */
static bool find_label(const struct label_projection *projection,
		       const struct stored_series *series, size_t name,
		       const struct label **ret_label, struct err *err)
{
	const struct label *label = find_at_positions(projection, series, name);

	for (size_t i = 0; !label && i < series->count; i++) {
		const struct label *other = pair_labels_get(&projection->labels, series->pairs[i]);

		if (!other)
			return pair_labels_missing(err);
		if (str_eq(other->name, projection->names[name]))
			label = other;
	}
	*ret_label = label;
	return true;
}

bool label_projection_of(const struct label_projection *projection,
			 const struct stored_series *series, str *ret_type,
			 struct labels *ret_labels, struct err *err)
{
	struct label *items;
	size_t len = 0;

	if (!projection->is_limited)
		return pair_labels_of(&projection->labels, series->pairs, series->count, ret_type,
				      ret_labels, err);
	items = arena_array(projection->arena, struct label, projection->name_count);
	for (size_t name = 0; name < projection->name_count; name++) {
		const struct label *label = NULL;

		if (!find_label(projection, series, name, &label, err))
			return false;
		if (label)
			items[len++] = *label;
	}
	*ret_type = (str){ 0 };
	*ret_labels = labels_of(items, len);
	return true;
}
