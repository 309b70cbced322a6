// SPDX-License-Identifier: Apache-2.0
#include "store/series_window.h"

#include "base/map.h"
#include "store/limits.h"
#include "store/row_scan.h"

/* Buckets are looked at in so many parts, so that one part tells whether the others pay. */
enum { PARTS = 4 };

struct look {
	const struct series_window *ask;
	struct map ids; /* 8 bytes each */
	bool buckets[SERIES_BUCKETS];
	size_t seen, all; /* buckets */
};

static bool see_row(void *self, const struct chunk_directory *directory, bool *ret_series)
{
	struct look *look = self;
	struct map *ids = &look->ids;

	(void)ret_series;
	for (size_t i = 0; i < directory->series_count; i++) {
		const struct directory_series *entry = &directory->series[i];
		str key = { (const char *)&entry->id, sizeof(entry->id) };

		if (store_window_overlaps(look->ask->window, entry->first_ms, entry->last_ms) &&
		    ids->len <= look->ask->most && !map_get(ids, key))
			*map_at(ids, str_copy(ids->arena, key)) = look;
	}
	return false;
}

/* What is seen here is seen again by who asks: it counts there. */
static bool run(struct look *look, bool sums, struct err *err)
{
	const struct store_window *window = look->ask->window;
	struct store_stats *stats = &look->ask->reader->stats;
	const struct store_stats before = *stats;
	struct row_scan scan = {
		.reader = look->ask->reader,
		.start_ms = window->start_ms,
		.end_ms = window->end_ms,
		.sums_alone = sums,
		.buckets = look->buckets,
		.wants = see_row,
		.self = look,
	};
	bool good;

	if (sums)
		row_scan_take_series(&scan);
	good = (sums && scan.first_hour_ms >= scan.end_hour_ms) || row_scan_run(&scan, err);
	stats->rows = before.rows;
	stats->read_ns = before.read_ns;
	return good;
}

static bool is_asked(const struct look *look, size_t bucket)
{
	return !look->ask->buckets || look->ask->buckets[bucket];
}

/* Whether a part has a bucket that is asked for; they are set then. */
static bool set_part(struct look *look, size_t part)
{
	bool any = false;

	for (size_t i = 0; i < SERIES_BUCKETS; i++) {
		look->buckets[i] = i % PARTS == part && is_asked(look, i);
		look->seen += look->buckets[i];
		any = any || look->buckets[i];
	}
	return any;
}

static bool look_at_parts(struct look *look, bool *ret_is_few, struct err *err)
{
	for (size_t part = 0; part < PARTS; part++) {
		if (!set_part(look, part))
			continue;
		if (!run(look, false, err))
			return false;
		if (look->ids.len > look->ask->most * look->seen / look->all) {
			*ret_is_few = false;
			return true;
		}
	}
	for (size_t i = 0; i < SERIES_BUCKETS; i++)
		look->buckets[i] = is_asked(look, i);
	if (!run(look, true, err))
		return false;
	*ret_is_few = look->ids.len <= look->ask->most;
	return true;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool series_window_read(const struct series_window *ask, struct arena *arena, int64_t **ret_ids,
			size_t *ret_count, bool *ret_is_few, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct look look = { .ask = ask, .ids.arena = &scratch };
	size_t count = 0;

	for (size_t i = 0; i < SERIES_BUCKETS; i++)
		look.all += is_asked(&look, i);
	if (!look_at_parts(&look, ret_is_few, err))
		return false;
	if (!*ret_is_few)
		return true;
	*ret_ids = arena_array(arena, int64_t, look.ids.len);
	map_for_each(&look.ids, slot)
		memcpy(&(*ret_ids)[count++], slot->key.ptr, sizeof(int64_t));
	if (count)
		qsort(*ret_ids, count, sizeof(int64_t), compare);
	*ret_count = count;
	return true;
}
