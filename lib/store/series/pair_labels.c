// SPDX-License-Identifier: Apache-2.0
#include "store/label_pair.h"
#include "store/series/pair_labels_internal.h"

static str key_of(const int64_t *id)
{
	return (str){ (const char *)id, sizeof(*id) };
}

void pair_labels_init(struct pair_labels *labels, struct postgres *pg, struct arena *arena)
{
	*labels = (struct pair_labels){ .pg = pg, .loaded.arena = arena };
}

void pair_labels_done(struct pair_labels *labels)
{
	arena_free(&labels->request_arena);
}

static void clear_requests(struct pair_labels *labels)
{
	arena_reset(&labels->request_arena);
	labels->requested = (struct map){ .arena = &labels->request_arena };
	labels->requests.items = NULL;
	labels->requests.len = labels->requests.cap = 0;
}

void pair_labels_request(struct pair_labels *labels, int64_t day, const int64_t *pairs,
			 size_t count)
{
	struct arena *arena = &labels->request_arena;

	labels->requested.arena = arena;
	for (size_t i = 0; i < count; i++) {
		str key = key_of(&pairs[i]);

		if (map_get(&labels->loaded, key) || map_get(&labels->requested, key))
			continue;
		*map_at(&labels->requested, str_copy(arena, key)) = labels;
		*vec_push(arena, &labels->requests) = (struct pair_request){ day, pairs[i] };
	}
}

static int compare(const void *a, const void *b)
{
	const struct pair_request *x = a, *y = b;

	if (x->day != y->day)
		return x->day < y->day ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Loads pairs of one day, in the order of the index, so that its pages are read sequentially. */
static bool load_day(struct pair_labels *labels, const struct pair_request *requests, size_t count,
		     struct err *err)
{
	static const char sql[] = "SELECT id, name, value FROM label_pair "
				  "WHERE day = $1 AND id = ANY ($2)";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct arena *arena = labels->loaded.arena;
	int64_t *ids = arena_array(&labels->request_arena, int64_t, count);

	for (size_t i = 0; i < count; i++)
		ids[i] = requests[i].id;

	const struct postgres_param params[] = {
		postgres_date(&labels->request_arena, requests[0].day),
		postgres_i64s(&labels->request_arena, ids, count),
	};

	if (!postgres_query(labels->pg, sql, params, ARRAY_LEN(params), &rows, err))
		return false;
	for (size_t i = 0; i < rows.count; i++) {
		struct label *label = arena_new(arena, struct label);
		int64_t id = postgres_get_i64(&rows, i, 0);

		label->name = str_copy(arena, postgres_get(&rows, i, 1));
		label->value = str_copy(arena, postgres_get(&rows, i, 2));
		*map_at(&labels->loaded, str_copy(arena, key_of(&id))) = label;
	}
	return true;
}

/* One statement per day: the index starts with the day, and finds many ids of one day at once. */
bool pair_labels_load(struct pair_labels *labels, const struct store_bounds *bounds,
		      struct err *err)
{
	const struct pair_request *requests = labels->requests.items;
	size_t len = labels->requests.len, end;

	if (len)
		qsort(labels->requests.items, len, sizeof(*requests), compare);
	for (size_t first = 0; first < len; first = end) {
		for (end = first + 1; end < len && requests[end].day == requests[first].day;)
			end++;
		if (!store_bounds_check(bounds, err) ||
		    !load_day(labels, &requests[first], end - first, err))
			return false;
	}
	clear_requests(labels);
	return true;
}

const struct label *pair_labels_get(const struct pair_labels *labels, int64_t id)
{
	return map_get(&labels->loaded, key_of(&id));
}

bool pair_labels_missing(struct err *err)
{
	return err_set(err, ERR_CORRUPT,
		       "a stored series has a label pair that is not in label_pair");
}

bool pair_labels_of(const struct pair_labels *labels, const int64_t *pairs, size_t count,
		    str *ret_type, struct labels *ret_labels, struct err *err)
{
	struct label *items = arena_array(labels->loaded.arena, struct label, count);
	str type = { 0 };
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		const struct label *label = pair_labels_get(labels, pairs[i]);

		if (!label)
			return pair_labels_missing(err);
		if (str_eq(label->name, PAIR_TYPE))
			type = label->value;
		else
			items[len++] = *label;
	}
	*ret_type = type;
	*ret_labels = labels_of(items, len);
	return true;
}
