// SPDX-License-Identifier: Apache-2.0
#include "store/pair_pick.h"

void pair_pick_begin(struct pair_pick *pick, struct postgres *pg, struct arena *arena)
{
	*pick = (struct pair_pick){ .arena = arena };
	pair_labels_init(&pick->labels, pg, arena);
}

void pair_pick_done(struct pair_pick *pick)
{
	pair_labels_done(&pick->labels);
}

/* LIMIT: one look into the index for each name. A join would read the index from end to end. */
static const char names_sql[] =
	"SELECT wanted.name FROM unnest($3::text[]) AS wanted (name), LATERAL (SELECT "
	"FROM label_pair WHERE day BETWEEN $1 AND $2 AND name = wanted.name LIMIT 1) AS there";

bool pair_pick_some(struct pair_pick *pick, const str *names, size_t count,
		    const struct postgres_param days[2], struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		days[0],
		days[1],
		postgres_texts(pick->arena, names, count),
	};
	str *kept;

	if (count &&
	    !postgres_query(pick->labels.pg, names_sql, params, ARRAY_LEN(params), &rows, err))
		return false;
	kept = arena_array(pick->arena, str, rows.count);
	pick->some = true;
	pick->names = kept;
	for (size_t i = 0; i < rows.count; i++) {
		str name = postgres_get(&rows, i, 0);

		if (!label_name_is_reserved(name))
			kept[pick->name_count++] = str_copy(pick->arena, name);
	}
	pick->places = arena_array(pick->arena, uint64_t, PICK_SHAPES * rows.count);
	return true;
}

static size_t shape_of(const struct pick_series *series)
{
	return series->count % PICK_SHAPES;
}

static uint64_t *places_of(const struct pair_pick *pick, const struct pick_series *series,
			   size_t name)
{
	return &pick->places[shape_of(series) * pick->name_count + name];
}

/* What the series has of that name, as far as is known from where it may be; else NULL. */
static const struct label *known_at_places(const struct pair_pick *pick,
					   const struct pick_series *series, size_t name)
{
	for (uint64_t left = *places_of(pick, series, name); left; left &= left - 1) {
		size_t at = (size_t)__builtin_ctzll(left);
		const struct label *label =
			at < series->count ? pair_labels_get(&pick->labels, series->pairs[at])
					   : NULL;

		if (label && str_eq(label->name, pick->names[name]))
			return label;
	}
	return NULL;
}

/* Series whose pairs are all wanted: they say where names are. */
struct examples {
	const struct pick_series **items;
	size_t len;
};

static void want_all(struct pair_pick *pick, const struct pick_series *series,
		     struct examples *examples)
{
	pair_labels_want(&pick->labels, series->day, series->pairs, series->count);
	examples->items[examples->len++] = series;
}

static void want_examples(struct pair_pick *pick, const struct pick_series *series, size_t count,
			  struct examples *examples)
{
	for (size_t i = 0; i < count; i++)
		if (pick->examples[shape_of(&series[i])]++ < PICK_EXAMPLES)
			want_all(pick, &series[i], examples);
}

static void want_likely(struct pair_pick *pick, const struct pick_series *series, size_t name)
{
	for (uint64_t left = *places_of(pick, series, name); left; left &= left - 1) {
		size_t at = (size_t)__builtin_ctzll(left);

		if (at < series->count)
			pair_labels_want(&pick->labels, series->day, &series->pairs[at], 1);
	}
}

static bool is_found(const struct pair_pick *pick, const struct pick_series *series)
{
	for (size_t name = 0; name < pick->name_count; name++)
		if (!known_at_places(pick, series, name))
			return false;
	return true;
}

static void learn_from(struct pair_pick *pick, const struct pick_series *series)
{
	for (size_t at = 0; at < series->count && at < 64; at++) {
		const struct label *label = pair_labels_get(&pick->labels, series->pairs[at]);

		for (size_t name = 0; label && name < pick->name_count; name++)
			if (str_eq(label->name, pick->names[name]))
				*places_of(pick, series, name) |= UINT64_C(1) << at;
	}
}

static bool load(struct pair_pick *pick, struct examples *examples,
		 const struct store_bounds *bounds, struct err *err)
{
	if (!pair_labels_load(&pick->labels, bounds, err))
		return false;
	for (size_t i = 0; i < examples->len; i++)
		learn_from(pick, examples->items[i]);
	examples->len = 0;
	return true;
}

static bool load_some(struct pair_pick *pick, const struct pick_series *series, size_t count,
		      const struct store_bounds *bounds, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct examples examples = { arena_array(&arena, const struct pick_series *, count), 0 };

	want_examples(pick, series, count, &examples);
	if (!load(pick, &examples, bounds, err))
		return false;
	for (size_t i = 0; i < count; i++)
		for (size_t name = 0; name < pick->name_count; name++)
			if (!known_at_places(pick, &series[i], name))
				want_likely(pick, &series[i], name);
	if (!load(pick, &examples, bounds, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is_found(pick, &series[i]))
			want_all(pick, &series[i], &examples);
	return load(pick, &examples, bounds, err);
}

bool pair_pick_load(struct pair_pick *pick, const struct pick_series *series, size_t count,
		    const struct store_bounds *bounds, struct err *err)
{
	if (pick->some)
		return pick->name_count == 0 || load_some(pick, series, count, bounds, err);
	for (size_t i = 0; i < count; i++)
		pair_labels_want(&pick->labels, series[i].day, series[i].pairs, series[i].count);
	return pair_labels_load(&pick->labels, bounds, err);
}

/* NULL: none of the series' pairs, which are all known then, is of that name. */
static bool find_label(const struct pair_pick *pick, const struct pick_series *series, size_t name,
		       const struct label **ret_label, struct err *err)
{
	const struct label *label = known_at_places(pick, series, name);

	for (size_t i = 0; !label && i < series->count; i++) {
		const struct label *other = pair_labels_get(&pick->labels, series->pairs[i]);

		if (!other)
			return pair_labels_lack(err);
		if (str_eq(other->name, pick->names[name]))
			label = other;
	}
	*ret_label = label;
	return true;
}

bool pair_pick_of(const struct pair_pick *pick, const struct pick_series *series, str *ret_type,
		  struct labels *ret_labels, struct err *err)
{
	struct label *items;
	size_t len = 0;

	if (!pick->some)
		return pair_labels_of(&pick->labels, series->pairs, series->count, ret_type,
				      ret_labels, err);
	items = arena_array(pick->arena, struct label, pick->name_count);
	for (size_t name = 0; name < pick->name_count; name++) {
		const struct label *label = NULL;

		if (!find_label(pick, series, name, &label, err))
			return false;
		if (label)
			items[len++] = *label;
	}
	*ret_type = (str){ 0 };
	*ret_labels = labels_of(items, len);
	return true;
}
