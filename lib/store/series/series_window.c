// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"
#include "store/limits.h"
#include "store/scan/row_scan.h"
#include "store/series/series_window_internal.h"

/* Buckets are scanned in this many groups: the first group shows whether the others pay. */
enum { GROUPS = 4 };

struct window_scan {
	const struct series_window *request;
	struct map ids; /* ids, 8 bytes each */
	bool buckets[SERIES_BUCKETS];
	size_t seen, all; /* buckets */
};

static void collect_ids(struct window_scan *scan, const struct row_scan *rows)
{
	struct map *ids = &scan->ids;

	for (size_t i = 0; i < rows->directory.series_count; i++) {
		const struct directory_series *entry = &rows->directory.series[i];
		str key = { (const char *)&entry->id, sizeof(entry->id) };

		if (rows->wanted[i] && ids->len <= scan->request->max && !map_get(ids, key))
			*map_at(ids, str_copy(ids->arena, key)) = scan;
	}
}

/* The caller scans the same rows again and counts them then: restore the counts. */
static bool run(struct window_scan *scan, bool sums, struct err *err)
{
	const struct store_window *window = scan->request->window;
	struct store_stats *stats = &scan->request->reader->stats;
	const struct store_stats before = *stats;
	struct scan_plan plan = sums ? scan_plan_make_series(window->start_ms, window->end_ms)
				     : scan_plan_make(window->start_ms, window->end_ms, NULL, 0);
	struct row_scan rows = { .readers = scan->request->reader,
				 .reader_count = 1,
				 .plan = &plan };

	plan.sums_alone = sums;
	plan.buckets = scan->buckets;
	while (row_scan_next(&rows))
		collect_ids(scan, &rows);

	bool good = row_scan_end(&rows, err);

	stats->rows = before.rows;
	stats->read_ns = before.read_ns;
	return good;
}

static bool is_requested(const struct window_scan *scan, size_t bucket)
{
	return !scan->request->buckets || scan->request->buckets[bucket];
}

/* Selects the requested buckets of a group. False: there are none. */
static bool select_group(struct window_scan *scan, size_t group)
{
	bool any = false;

	for (size_t i = 0; i < SERIES_BUCKETS; i++) {
		scan->buckets[i] = i % GROUPS == group && is_requested(scan, i);
		scan->seen += scan->buckets[i];
		any = any || scan->buckets[i];
	}
	return any;
}

static bool scan_groups(struct window_scan *scan, bool *ret_is_few, struct err *err)
{
	for (size_t group = 0; group < GROUPS; group++) {
		if (!select_group(scan, group))
			continue;
		if (!run(scan, false, err))
			return false;
		if (scan->ids.len > scan->request->max * scan->seen / scan->all) {
			*ret_is_few = false;
			return true;
		}
	}
	for (size_t i = 0; i < SERIES_BUCKETS; i++)
		scan->buckets[i] = is_requested(scan, i);
	if (!run(scan, true, err))
		return false;
	*ret_is_few = scan->ids.len <= scan->request->max;
	return true;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool series_window_read(const struct series_window *request, struct arena *arena, int64_t **ret_ids,
			size_t *ret_count, bool *ret_is_few, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct window_scan scan = { .request = request, .ids.arena = &scratch };
	size_t count = 0;

	for (size_t i = 0; i < SERIES_BUCKETS; i++)
		scan.all += is_requested(&scan, i);
	if (!scan_groups(&scan, ret_is_few, err))
		return false;
	if (!*ret_is_few)
		return true;
	*ret_ids = arena_array(arena, int64_t, scan.ids.len);
	map_for_each(&scan.ids, slot)
		memcpy(&(*ret_ids)[count++], slot->key.ptr, sizeof(int64_t));
	if (count)
		qsort(*ret_ids, count, sizeof(int64_t), compare);
	*ret_count = count;
	return true;
}
