// SPDX-License-Identifier: Apache-2.0
#include "store/read/series_reader.h"

#include "store/chunk/chunk_decode.h"
#include "store/scan/row_scan.h"
#include "store/series/series_find.h"

static bool mark_found(void *self, const struct sample_set *set, struct err *err)
{
	const struct matched_series *matched = self;

	(void)err;
	for (size_t i = 0; i < set->samples.len; i++) {
		uint64_t id = set->series.items[set->samples.items[i].series].id;

		matched_series_get(matched, id)->is_found = true;
	}
	return true;
}

/*
 * If the first or last time of a series is in the window, the series has a sample there, unless a
 * matcher must be tested on samples. The payload is read only for series that are still in doubt.
 */
static bool are_in_doubt(struct row_scan *scan)
{
	const struct scan_range *window = &scan->plan->window;
	bool in_doubt = false;

	for (size_t i = 0; i < scan->directory.series_count; i++) {
		const struct directory_series *entry = &scan->directory.series[i];

		if (!scan->wanted[i])
			continue;

		struct series_match *series = matched_series_get(scan->plan->series, entry->id);

		series->is_found = !series->open && (entry->first_ms >= window->start_ms ||
						     entry->last_ms < window->end_ms);
		scan->wanted[i] = !series->is_found;
		in_doubt = in_doubt || scan->wanted[i];
	}
	return in_doubt;
}

/* Copies the series that have a sample into the caller's map by id. */
static void keep_found(const struct matched_series *matched, struct map *kept)
{
	struct arena *arena = kept->arena;

	map_for_each(&matched->by_id, slot) {
		const struct series_match *match = slot->value;

		if (!match->is_found || map_get(kept, slot->key))
			continue;

		struct series *series = arena_new(arena, struct series);

		series->type = str_copy(arena, match->type);
		series->labels = labels_copy(arena, match->labels);
		memcpy(&series->id, slot->key.ptr, sizeof(series->id));
		*map_at(kept, str_copy(arena, slot->key)) = series;
	}
}

/* Hourly sums have the series of their samples, but cannot test matchers on samples. */
static bool sums_suffice(const struct matched_series *matched)
{
	map_for_each(&matched->by_id, slot) {
		if (((const struct series_match *)slot->value)->open)
			return false;
	}
	return true;
}

static bool find(struct store_reader *reader, const struct store_query *query, struct map *kept,
		 struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct matched_series matched = { .arena = &arena };
	const struct store_window window = store_window_of(query->start_ms, query->end_ms);
	const struct store_sink sink = { .on_samples = mark_found, .self = &matched };

	if (!series_find(reader, query->selector, &window, &matched, err))
		return false;
	if (matched.by_id.len == 0)
		return true;

	struct scan_plan plan = sums_suffice(&matched)
					? scan_plan_make_series(window.start_ms, window.end_ms)
					: scan_plan_make(window.start_ms, window.end_ms, NULL, 0);
	struct row_scan scan = {
		.readers = reader, .reader_count = 1, .plan = &plan, .sinks = &sink
	};

	plan.series = &matched;
	plan.buckets = matched.buckets;
	plan.selector = query->selector;
	plan.without = CHUNK_NO_STACKS;
	while (row_scan_next(&scan))
		if (are_in_doubt(&scan))
			row_scan_take(&scan);
	if (!row_scan_end(&scan, err))
		return false;
	keep_found(&matched, kept);
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct series *left = a, *right = b;
	int order = str_compare(left->type, right->type);

	return order ? order : labels_compare(left->labels, right->labels);
}

bool store_reader_series(struct store_reader *reader, const struct store_query *queries,
			 size_t query_count, struct arena *arena, struct series **ret_series,
			 size_t *ret_count, struct err *err)
{
	struct map kept = { .arena = arena };
	size_t count = 0;

	for (size_t i = 0; i < query_count; i++)
		if (!find(reader, &queries[i], &kept, err))
			return false;
	*ret_series = arena_array(arena, struct series, kept.len);
	map_for_each(&kept, slot)
		(*ret_series)[count++] = *(const struct series *)slot->value;
	if (count)
		qsort(*ret_series, count, sizeof(**ret_series), compare);
	*ret_count = count;
	return true;
}
