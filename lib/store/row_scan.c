// SPDX-License-Identifier: Apache-2.0
#include "store/row_scan.h"

#include "base/clock.h"
#include "store/limits.h"
#include "store/row_crew.h"
#include "store/row_source.h"

void row_scan_take_sums(struct row_scan *scan, const int32_t *kinds, size_t count)
{
	scan->first_hour_ms = (scan->start_ms + MS_PER_HOUR - 1) / MS_PER_HOUR * MS_PER_HOUR;
	scan->end_hour_ms = scan->end_ms / MS_PER_HOUR * MS_PER_HOUR;
	scan->kinds = kinds;
	scan->kind_count = count;
}

void row_scan_take_series(struct row_scan *scan)
{
	static const int32_t kinds[] = { ROLLUP_GAUGES, ROLLUP_ALONE, ROLLUP_SERIES };

	row_scan_take_sums(scan, kinds, ARRAY_LEN(kinds));
}

static bool open_cursor(const struct row_scan *scan, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct row_source source = row_source_cursor(scan, &arena);

	return postgres_query(&scan->reader->pg, source.sql, source.params, ROW_SOURCE_PARAMS,
			      &rows, err);
}

/* A scan that is under way. */
struct walk {
	const struct row_scan *scan;
	struct row_crew *crew;
	struct row_batch batch;
};

static bool look_at_row(struct walk *walk, const struct postgres_rows *rows, size_t row,
			struct err *err)
{
	AUTO_ARENA arena = { 0 };
	const struct row_scan *scan = walk->scan;
	struct chunk_directory directory;
	str partition = postgres_get(rows, row, ROW_PARTITION);

	scan->reader->stats.rows++;
	if (!store_bounds_hold(&scan->reader->bounds, err))
		return false;
	if (!chunk_directory_read(postgres_get(rows, row, ROW_DIRECTORY), &directory, &arena,
				  err)) {
		scan->reader->stats.unreadable++;
		return err_wrap(err, "a row in " STR_FMT, STR_ARG(partition));
	}

	bool *series = arena_array(&arena, bool, directory.series_count);

	if (!scan->wants(scan->self, &directory, series))
		return true;
	if (!row_batch_has_room(&walk->batch, partition) &&
	    !row_crew_read(walk->crew, &walk->batch, err))
		return false;

	struct chunk_ranges ranges = chunk_ranges_choose(
		&directory, series, (size_t)postgres_get_i64(rows, row, ROW_PAYLOAD_LEN), &arena);

	row_batch_add(&walk->batch, partition, postgres_get(rows, row, ROW_PLACE), &ranges);
	return true;
}

static bool run(struct walk *walk, struct err *err)
{
	_Static_assert(READ_ROWS == 256, "said in the FETCH below");
	struct postgres *pg = &walk->scan->reader->pg;
	size_t count = 0;

	if (!open_cursor(walk->scan, err))
		return false;
	do {
		CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

		if (!postgres_query(pg, "FETCH 256 FROM rows", NULL, 0, &rows, err))
			return false;
		count = rows.count;
		for (size_t i = 0; i < count; i++)
			if (!look_at_row(walk, &rows, i, err))
				return false;
	} while (count);
	return row_crew_read(walk->crew, &walk->batch, err) && postgres_exec(pg, "CLOSE rows", err);
}

bool row_scan_run(const struct row_scan *scan, struct err *err)
{
	struct row_crew crew = {
		.leader = scan->reader,
		.rows = { .pg = &scan->reader->pg,
			  .bounds = &scan->reader->bounds,
			  .stats = &scan->reader->stats,
			  .take = scan->take,
			  .self = scan->self },
		.helpers = scan->helpers,
		.helper_count = scan->helper_count,
	};
	struct walk walk = { .scan = scan, .crew = &crew };
	uint64_t began_ns = clock_monotonic_ns();
	bool good = row_crew_end(&crew, run(&walk, err), err);

	scan->reader->stats.read_ns += clock_monotonic_ns() - began_ns;
	arena_free(&walk.batch.arena);
	return good;
}

bool row_scan_days(const struct row_scan *scan, struct arena *arena, int64_t **ret_days,
		   size_t *ret_count, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct row_source source = row_source_days(scan, arena);

	if (!postgres_query(&scan->reader->pg, source.sql, source.params, ROW_SOURCE_PARAMS, &rows,
			    err))
		return false;
	*ret_days = arena_array(arena, int64_t, rows.count);
	*ret_count = rows.count;
	for (size_t i = 0; i < rows.count; i++)
		(*ret_days)[i] = postgres_get_i64(&rows, i, 0);
	return true;
}
