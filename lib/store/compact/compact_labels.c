// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"
#include "store/compact/compact_labels_internal.h"
#include "store/label_pair.h"

/* The number of consecutive rows of one series. */
static size_t run_of(const struct postgres_rows *rows, size_t first)
{
	int64_t id = postgres_get_i64(rows, first, 0);
	size_t end = first + 1;

	while (end < rows->count && postgres_get_i64(rows, end, 0) == id)
		end++;
	return end - first;
}

static struct labels *labels_of_rows(const struct postgres_rows *rows, size_t first, size_t count,
				     struct arena *arena)
{
	struct labels *labels = arena_new(arena, struct labels);
	struct label *items = arena_array(arena, struct label, count);
	size_t len = 0;

	for (size_t i = first; i < first + count; i++) {
		str name = postgres_get(rows, i, 1);

		if (label_name_is_reserved(name)) /* its type */
			continue;
		items[len].name = str_copy(arena, name);
		items[len++].value = str_copy(arena, postgres_get(rows, i, 2));
	}
	*labels = labels_of(items, len);
	return labels;
}

bool compact_labels_load(struct postgres *pg, int64_t day, const struct sample_set *set,
			 struct arena *arena, struct labels **ret_labels, struct err *err)
{
	static const char sql[] =
		"SELECT series.id, name, value FROM series, unnest(pairs) AS pair "
		"JOIN label_pair ON label_pair.day = $1 AND label_pair.id = pair "
		"WHERE series.day = $1 AND series.id = ANY ($2) ORDER BY 1";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct labels *labels = arena_array(arena, struct labels, set->series.len);
	int64_t *ids = arena_array(arena, int64_t, set->series.len);
	struct map by_id = { .arena = arena };

	for (size_t i = 0; i < set->series.len; i++)
		ids[i] = (int64_t)set->series.items[i].id;

	const struct postgres_param params[] = {
		postgres_date(arena, day),
		postgres_i64s(arena, ids, set->series.len),
	};

	if (!postgres_query(pg, sql, params, ARRAY_LEN(params), &rows, err))
		return false;
	for (size_t i = 0, count; i < rows.count; i += count) {
		int64_t id = postgres_get_i64(&rows, i, 0);
		str key = str_copy(arena, (str){ (const char *)&id, sizeof(id) });

		count = run_of(&rows, i);
		*map_at(&by_id, key) = labels_of_rows(&rows, i, count, arena);
	}
	for (size_t i = 0; i < set->series.len; i++) {
		const struct labels *found =
			map_get(&by_id, (str){ (const char *)&ids[i], sizeof(ids[i]) });

		if (found)
			labels[i] = *found;
	}
	*ret_labels = labels;
	return true;
}
