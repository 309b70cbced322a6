// SPDX-License-Identifier: Apache-2.0
#include "store/read/label_reader.h"

#include "base/vec.h"
#include "store/chunk/chunk_decode.h"
#include "store/label_pair.h"
#include "store/scan/row_scan.h"
#include "store/series/series_find.h"

/* A set of texts, copied into the arena. */
struct texts {
	struct arena *arena;
	struct map seen;
};

static void texts_add(struct texts *texts, str text)
{
	if (map_get(&texts->seen, text))
		return;
	*map_at(&texts->seen, str_copy(texts->arena, text)) = texts;
}

static int compare(const void *a, const void *b)
{
	return str_compare(*(const str *)a, *(const str *)b);
}

static void texts_sorted(const struct texts *texts, str **ret_items, size_t *ret_count)
{
	size_t count = 0;

	*ret_items = arena_array(texts->arena, str, texts->seen.len);
	map_for_each(&texts->seen, slot)
		(*ret_items)[count++] = slot->key;
	if (count)
		qsort(*ret_items, count, sizeof(str), compare);
	*ret_count = count;
}

static struct texts texts_in(struct arena *arena)
{
	return (struct texts){ .arena = arena, .seen = { .arena = arena } };
}

/* A search for names or values of labels, and its result. */
struct label_search {
	struct store_window window;
	const struct matched_series *series; /* NULL: every series */
	str name;                            /* search its values; NULL ptr: search names */
	struct texts *texts;
};

static bool add_values(void *self, const struct sample_set *set, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	const struct label_search *search = self;
	bool *used = arena_array(&arena, bool, set->label_sets.len);

	(void)err;
	for (size_t i = 0; i < set->samples.len; i++)
		used[set->samples.items[i].labels] = true;
	for (size_t i = 0; i < set->label_sets.len; i++) {
		str value = labels_get(set->label_sets.items[i], search->name);

		if (used[i] && value.len)
			texts_add(search->texts, value);
	}
	return true;
}

/* Names are in the directories; values need the payloads of rows that have the name. */
static bool scan(struct store_reader *reader, struct label_search *search, struct err *err)
{
	const struct store_window *window = &search->window;
	struct scan_plan plan = scan_plan_make(window->start_ms, window->end_ms, NULL, 0);
	const struct store_sink sink = { .on_samples = add_values, .self = search };
	struct row_scan rows = {
		.readers = reader, .reader_count = 1, .plan = &plan, .sinks = &sink
	};

	plan.series = search->series;
	plan.buckets = search->series ? search->series->buckets : NULL;
	plan.without = CHUNK_NO_STACKS;
	while (row_scan_next(&rows)) {
		bool has_name = false;

		for (size_t i = 0; i < rows.directory.name_count; i++) {
			if (!search->name.ptr)
				texts_add(search->texts, rows.directory.names[i]);
			else
				has_name =
					has_name || str_eq(rows.directory.names[i], search->name);
		}
		if (has_name)
			row_scan_take(&rows);
	}
	return row_scan_end(&rows, err);
}

/* The values of the name, or (NULL ptr) all names, sorted, from the index: exact to the day. */
static bool read_indexed(struct store_reader *reader, const struct store_window *window, str name,
			 struct postgres_rows *rows, struct err *err)
{
	/* DISTINCT would read every entry of the index; this skips from one name to the next. */
	static const char names[] =
		"WITH RECURSIVE step AS ((SELECT name FROM label_pair WHERE day BETWEEN $1 AND $2 "
		"ORDER BY name LIMIT 1) UNION ALL SELECT (SELECT name FROM label_pair WHERE day "
		"BETWEEN $1 AND $2 AND name > step.name ORDER BY name LIMIT 1) FROM step "
		"WHERE step.name IS NOT NULL) SELECT name FROM step WHERE name IS NOT NULL";
	static const char values[] = "SELECT DISTINCT value FROM label_pair WHERE day BETWEEN $1 "
				     "AND $2 AND name = $3 ORDER BY value";
	AUTO_ARENA arena = { 0 };
	const struct postgres_param params[] = {
		postgres_date(&arena, window->first_day),
		postgres_date(&arena, window->last_day),
		postgres_text(name),
	};

	return postgres_query(&reader->pg, name.ptr ? values : names, params, name.ptr ? 3 : 2,
			      rows, err);
}

static bool add_indexed(struct store_reader *reader, const struct store_window *window, str name,
			struct texts *texts, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!read_indexed(reader, window, name, &rows, err))
		return false;
	for (size_t i = 0; i < rows.count; i++) {
		str text = postgres_get(&rows, i, 0);

		if (name.ptr || !label_name_is_reserved(text))
			texts_add(texts, text);
	}
	return true;
}

/* The indexed values are the whole result: there may be many, so they are not put into a set. */
static bool list_indexed(struct store_reader *reader, const struct store_window *window, str name,
			 struct arena *arena, str **ret_items, size_t *ret_count, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!read_indexed(reader, window, name, &rows, err))
		return false;
	*ret_items = arena_array(arena, str, rows.count);
	for (size_t i = 0; i < rows.count; i++)
		(*ret_items)[i] = str_copy(arena, postgres_get(&rows, i, 0));
	*ret_count = rows.count;
	return true;
}

static bool is_sample_label(struct store_reader *reader, const struct store_window *window,
			    str name, bool *ret_is, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str *names = NULL;
	size_t count = 0;

	if (!sample_label_names(&reader->pg, window->first_day, window->last_day, &arena, &names,
				&count, err))
		return false;
	*ret_is = false;
	for (size_t i = 0; i < count; i++)
		*ret_is = *ret_is || str_eq(names[i], name);
	return true;
}

/* Adds the labels of the matching series, then those of their samples. */
static bool add_of_query(struct store_reader *reader, const struct store_query *query, str name,
			 struct texts *texts, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct matched_series matched = {
		.arena = &arena,
		.limits_series_labels = name.ptr,
		.label_names = &name,
		.label_count = 1,
	};
	struct label_search search = {
		.window = store_window_of(query->start_ms, query->end_ms),
		.series = &matched,
		.name = name,
		.texts = texts,
	};

	if (!series_find(reader, query->selector, &search.window, &matched, err))
		return false;
	map_for_each(&matched.by_id, slot) {
		const struct series_match *series = slot->value;

		for (size_t i = 0; i < series->labels.len; i++) {
			const struct label *label = &series->labels.items[i];

			if (!name.ptr)
				texts_add(texts, label->name);
			else if (str_eq(label->name, name) && label->value.len)
				texts_add(texts, label->value);
		}
	}
	return matched.by_id.len == 0 || scan(reader, &search, err);
}

bool store_reader_label_names(struct store_reader *reader, const struct store_query *queries,
			      size_t query_count, uint64_t start_ms, uint64_t end_ms,
			      struct arena *arena, str **ret_names, size_t *ret_count,
			      struct err *err)
{
	struct texts texts = texts_in(arena);
	struct store_window window = store_window_of(start_ms, end_ms);

	for (size_t i = 0; i < query_count; i++)
		if (!add_of_query(reader, &queries[i], (str){ 0 }, &texts, err))
			return false;
	if (query_count == 0 && (!add_indexed(reader, &window, (str){ 0 }, &texts, err) ||
				 !add_indexed(reader, &window, PAIR_SAMPLE, &texts, err)))
		return false;
	texts_sorted(&texts, ret_names, ret_count);
	return true;
}

bool store_reader_label_values(struct store_reader *reader, str name,
			       const struct store_query *queries, size_t query_count,
			       uint64_t start_ms, uint64_t end_ms, struct arena *arena,
			       str **ret_values, size_t *ret_count, struct err *err)
{
	struct texts texts = texts_in(arena);
	struct label_search everything = {
		.window = store_window_of(start_ms, end_ms),
		.name = name,
		.texts = &texts,
	};
	const struct store_window *window = &everything.window;
	bool is_listed = query_count == 0 && !label_name_is_reserved(name);
	bool of_sample = false;

	for (size_t i = 0; i < query_count; i++)
		if (!add_of_query(reader, &queries[i], name, &texts, err))
			return false;
	if (is_listed && !is_sample_label(reader, window, name, &of_sample, err))
		return false;
	if (is_listed && !of_sample)
		return list_indexed(reader, window, name, arena, ret_values, ret_count, err);
	if (is_listed &&
	    (!add_indexed(reader, window, name, &texts, err) || !scan(reader, &everything, err)))
		return false;
	texts_sorted(&texts, ret_values, ret_count);
	return true;
}

bool store_reader_profile_types(struct store_reader *reader, uint64_t start_ms, uint64_t end_ms,
				struct arena *arena, str **ret_types, size_t *ret_count,
				struct err *err)
{
	struct texts texts = texts_in(arena);
	struct store_window window = store_window_of(start_ms, end_ms);

	if (!add_indexed(reader, &window, PAIR_TYPE, &texts, err))
		return false;
	texts_sorted(&texts, ret_types, ret_count);
	return true;
}
