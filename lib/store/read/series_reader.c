// SPDX-License-Identifier: Apache-2.0
#include "store/read/series_reader.h"

#include "store/read/query_match_internal.h"
#include "store/scan/row_scan.h"

/* The matching series, and those of them that have a sample in the window. */
struct series_search {
	struct query_match match;
	struct map seen; /* id, 8 bytes */
	struct store_stats *stats;
};

static bool is_seen(const struct series_search *search, uint64_t id)
{
	return map_get(&search->seen, (str){ (const char *)&id, sizeof(id) });
}

static void mark_seen(struct series_search *search, uint64_t id)
{
	if (!is_seen(search, id))
		*map_at(&search->seen, str_copy(search->seen.arena,
						(str){ (const char *)&id, sizeof(id) })) = search;
}

/*
 * If the first or last time of a series is in the window, the series has a sample there, unless a
 * matcher must be tested on samples. The payload is read only for series that are still in doubt.
 */
static bool wants_payload(void *self, const struct chunk_directory *directory, bool *ret_series)
{
	struct series_search *search = self;
	const struct store_window *window = &search->match.window;
	const struct selector *selector = search->match.selector;
	uint32_t never = selector ? query_match_never(selector, directory) : 0;
	bool in_doubt = false;

	for (size_t i = 0; i < directory->series_count; i++) {
		const struct directory_series *entry = &directory->series[i];
		const struct series_match *series =
			matched_series_get(&search->match.matched, entry->id);

		if (!series || !store_window_overlaps(window, entry->first_ms, entry->last_ms) ||
		    series->open & never || is_seen(search, entry->id))
			continue;
		if (!series->open &&
		    (entry->first_ms >= window->start_ms || entry->last_ms < window->end_ms))
			mark_seen(search, entry->id);
		else
			in_doubt = ret_series[i] = true;
	}
	return in_doubt;
}

static bool series_in_doubt(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	struct series_search *search = self;

	return !is_seen(search, id) && query_match_series(&search->match, id, type, ret_labels);
}

static bool read_payload(void *self, const struct row_fragment *fragment, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct series_search *search = self;
	struct sample_set set;
	uint64_t samples = 0;
	const struct chunk_filter filter = {
		.series = series_in_doubt,
		.self = search,
		.start_ms = search->match.window.start_ms,
		.end_ms = search->match.window.end_ms,
		.without = CHUNK_NO_STACKS,
		.slices = fragment->slices,
	};

	sample_set_init(&set, &arena);
	if (!chunk_decode(fragment->bytes, &filter, &set, &samples, err) ||
	    (search->match.selector && !query_match_samples(&search->match, &set, &arena, err)))
		return false;
	for (size_t i = 0; i < set.samples.len; i++)
		mark_seen(search, set.series.items[set.samples.items[i].series].id);
	search->stats->samples_read += samples;
	search->stats->samples_matched += set.samples.len;
	return true;
}

/* Copies the series that have a sample into the caller's map by id. */
static void keep_seen(const struct series_search *search, struct map *kept)
{
	struct arena *arena = kept->arena;

	map_for_each(&search->match.matched.by_id, slot) {
		const struct series_match *matched = slot->value;

		if (!map_get(&search->seen, slot->key) || map_get(kept, slot->key))
			continue;

		struct series *series = arena_new(arena, struct series);

		series->type = str_copy(arena, matched->type);
		series->labels = labels_copy(arena, matched->labels);
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

static bool scan_rows(struct series_search *search, struct store_reader *reader, struct err *err)
{
	const struct store_window *window = &search->match.window;
	struct row_scan scan = {
		.reader = reader,
		.plan = sums_suffice(&search->match.matched)
				? scan_plan_make_series(window->start_ms, window->end_ms)
				: scan_plan_make(window->start_ms, window->end_ms, NULL, 0),
		.wants_payload = wants_payload,
		.on_payload = read_payload,
		.self = search,
	};

	scan.plan.buckets = search->match.matched.buckets;
	return row_scan_run(&scan, err);
}

static bool find(struct store_reader *reader, const struct store_query *query, struct map *kept,
		 struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct series_search search = {
		.match = { .selector = query->selector,
			   .window = store_window_of(query->start_ms, query->end_ms),
			   .bounds = &reader->bounds,
			   .matched = { .arena = &arena } },
		.seen = { .arena = &arena },
		.stats = &reader->stats,
	};

	if (!query_match_find(&search.match, reader, err))
		return false;
	if (search.match.matched.by_id.len && !scan_rows(&search, reader, err))
		return false;
	keep_seen(&search, kept);
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
