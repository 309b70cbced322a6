// SPDX-License-Identifier: Apache-2.0
#include "store/scan/row_scan.h"

#include "base/clock.h"
#include "store/limits.h"
#include "store/scan/parallel_scan.h"

void row_scan_use_sums(struct row_scan *scan, const int32_t *kinds, size_t count)
{
	scan->first_hour_ms = (scan->start_ms + MS_PER_HOUR - 1) / MS_PER_HOUR * MS_PER_HOUR;
	scan->end_hour_ms = scan->end_ms / MS_PER_HOUR * MS_PER_HOUR;
	scan->kinds = kinds;
	scan->kind_count = count;
}

void row_scan_use_series_sums(struct row_scan *scan)
{
	static const int32_t kinds[] = { ROLLUP_GAUGES, ROLLUP_ALONE, ROLLUP_SERIES };

	row_scan_use_sums(scan, kinds, ARRAY_LEN(kinds));
}

enum { SCAN_PARAMS = 14 };

struct scan_query {
	const char *sql;
	struct postgres_param params[SCAN_PARAMS];
};

/* Columns of the cursor, in binary format. */
enum { ROW_PARTITION, ROW_CTID, ROW_PAYLOAD_LEN, ROW_DIRECTORY };

/* One source of rows: a table with a condition. A row of `chunk` belongs to one hour. */
struct row_source {
	const char *day; /* day of the samples: bigint, since 1970 */
	const char *from;
	enum { ALWAYS, WITH_HOURS, WITH_GAUGES, WITH_DAYS } when;
	bool is_sums;
};

#define HOLDS   "bucket = ANY ($3) AND first_ms < $4 AND last_ms >= $5"
#define HOURS   "day >= $6 AND day <= $7 AND first_ms >= $8 AND first_ms < $9"
#define DAY     "(day - date '1970-01-01')::bigint"
#define RAW_DAY "generate_series(greatest(first_ms, $5) / 86400000, least(last_ms, $4) / 86400000)"

_Static_assert(ROLLUP_DAY == 4, "as in the SQL below");
static const struct row_source sources[] = {
	{ DAY,
	  "rollup WHERE " HOURS " AND kind = ANY ($10) "
	  "AND (folded IS NULL OR first_ms < $13 OR first_ms >= $14) AND " HOLDS,
	  WITH_HOURS, true },
	{ DAY,
	  "rollup WHERE day >= $6 AND day <= $7 AND kind = 4 "
	  "AND first_ms >= $13 AND first_ms < $14 AND " HOLDS,
	  WITH_DAYS, true },
	{ DAY, "chunk WHERE " HOURS " AND rolled IS NULL AND " HOLDS, WITH_HOURS, false },
	/* Rolled up by a version that did not roll up gauges. */
	{ DAY, "chunk WHERE " HOURS " AND rolled IS NOT NULL AND NOT gauges AND " HOLDS,
	  WITH_GAUGES, false },
	{ DAY, "chunk WHERE day = $6 AND first_ms >= $11 AND first_ms < $8 AND " HOLDS, WITH_HOURS,
	  false },
	{ DAY, "chunk WHERE day >= $12 AND day <= $7 AND first_ms >= $9 AND " HOLDS, ALWAYS,
	  false },
	{ RAW_DAY, "chunk_raw WHERE merged IS NULL AND arrival >= $1 AND arrival < $2 AND " HOLDS,
	  ALWAYS, false },
	{ RAW_DAY, "chunk_raw WHERE merged IS NULL AND arrival >= $2 AND late AND " HOLDS, ALWAYS,
	  false },
};

static bool has_hours(const struct row_scan *scan)
{
	return scan->kind_count && scan->first_hour_ms < scan->end_hour_ms;
}

static bool has_days(const struct row_scan *scan)
{
	return has_hours(scan) && scan->first_day_ms < scan->end_day_ms;
}

static bool is_needed(const struct row_scan *scan, const struct row_source *source)
{
	bool needed = false;

	switch (source->when) {
	case ALWAYS:
		needed = true;
		break;
	case WITH_HOURS:
		needed = has_hours(scan);
		break;
	case WITH_GAUGES:
		needed = has_hours(scan) && scan->kinds[0] == ROLLUP_GAUGES;
		break;
	case WITH_DAYS:
		needed = has_days(scan) && scan->sums_alone;
		break;
	}
	return needed && (source->is_sums || !scan->sums_alone);
}

struct postgres_param row_scan_buckets(const struct row_scan *scan, struct arena *arena)
{
	int32_t buckets[SERIES_BUCKETS];
	size_t count = 0;

	for (int32_t i = 0; i < SERIES_BUCKETS; i++)
		if (!scan->buckets || scan->buckets[i])
			buckets[count++] = i;
	return postgres_i32s(arena, buckets, count);
}

static void set_params(const struct row_scan *scan, struct arena *arena,
		       struct postgres_param params[SCAN_PARAMS])
{
	uint64_t arrival_ms = scan->start_ms > AHEAD_MS ? scan->start_ms - AHEAD_MS : 0;
	uint64_t start_hour_ms = scan->start_ms - scan->start_ms % MS_PER_HOUR;
	uint64_t first_ms = has_hours(scan) ? scan->first_hour_ms : start_hour_ms;
	uint64_t end_ms = has_hours(scan) ? scan->end_hour_ms : start_hour_ms;
	const struct postgres_param all[SCAN_PARAMS] = {
		postgres_time(arena, arrival_ms),
		postgres_time(arena, scan->end_ms + LATE_MS),
		row_scan_buckets(scan, arena),
		postgres_i64(arena, (int64_t)scan->end_ms),
		postgres_i64(arena, (int64_t)scan->start_ms),
		postgres_date(arena, (int64_t)(scan->start_ms / MS_PER_DAY)),
		postgres_date(arena, (int64_t)(scan->end_ms / MS_PER_DAY)),
		postgres_i64(arena, (int64_t)first_ms),
		postgres_i64(arena, (int64_t)end_ms),
		postgres_i32s(arena, scan->kinds, scan->kind_count),
		postgres_i64(arena, (int64_t)start_hour_ms),
		postgres_date(arena, (int64_t)(end_ms / MS_PER_DAY)),
		/* Without whole days, every hour is before the first one. */
		postgres_i64(arena, has_days(scan) ? (int64_t)scan->first_day_ms : INT64_MAX),
		postgres_i64(arena, has_days(scan) ? (int64_t)scan->end_day_ms : INT64_MAX),
	};

	memcpy(params, all, sizeof(all));
}

static void add_sources(const struct row_scan *scan, bool days, struct buf *sql)
{
	bool is_first = true;

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		if (!is_needed(scan, &sources[i]))
			continue;
		buf_format(
			sql, "%sSELECT %s FROM %s", is_first ? "" : " UNION ALL ",
			days ? sources[i].day
			     : "tableoid::regclass::text, ctid, octet_length(payload), directory",
			sources[i].from);
		is_first = false;
	}
}

static struct scan_query cursor_query(const struct row_scan *scan, struct arena *arena)
{
	struct scan_query query = { 0 };
	struct buf sql = { .arena = arena };

	buf_format(&sql, "DECLARE rows NO SCROLL CURSOR FOR ");
	add_sources(scan, false, &sql);
	buf_u8(&sql, '\0');
	query.sql = sql.ptr;
	set_params(scan, arena, query.params);
	return query;
}

static struct scan_query days_query(const struct row_scan *scan, struct arena *arena)
{
	struct scan_query query = { 0 };
	struct buf sql = { .arena = arena };

	buf_format(&sql,
		   "SELECT DISTINCT day FROM (SELECT NULL::bigint AS day WHERE false UNION ALL ");
	add_sources(scan, true, &sql);
	buf_format(&sql, ") AS days ORDER BY day%c", '\0');
	query.sql = sql.ptr;
	set_params(scan, arena, query.params);
	return query;
}

static bool open_cursor(const struct row_scan *scan, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct scan_query query = cursor_query(scan, &arena);

	return postgres_query(&scan->reader->pg, query.sql, query.params, SCAN_PARAMS, &rows, err);
}

/* A running scan. */
struct scan_state {
	const struct row_scan *scan;
	struct parallel_scan *parallel;
	struct payload_batch batch;
};

static bool read_row(struct scan_state *state, const struct postgres_rows *rows, size_t row,
		     struct err *err)
{
	AUTO_ARENA arena = { 0 };
	const struct row_scan *scan = state->scan;
	struct chunk_directory directory;
	str partition = postgres_get(rows, row, ROW_PARTITION);

	scan->reader->stats.rows++;
	if (!store_bounds_check(&scan->reader->bounds, err))
		return false;
	if (!chunk_directory_read(postgres_get(rows, row, ROW_DIRECTORY), &directory, &arena,
				  err)) {
		scan->reader->stats.unreadable++;
		return err_wrap(err, "a row in " STR_FMT, STR_ARG(partition));
	}

	bool *series = arena_array(&arena, bool, directory.series_count);

	if (!scan->wants_payload(scan->self, &directory, series))
		return true;
	if (!payload_batch_has_room(&state->batch, partition) &&
	    !parallel_scan_read(state->parallel, &state->batch, err))
		return false;

	struct chunk_ranges ranges = chunk_ranges_choose(
		&directory, series, (size_t)postgres_get_i64(rows, row, ROW_PAYLOAD_LEN), &arena);

	payload_batch_add(&state->batch, partition, postgres_get(rows, row, ROW_CTID), &ranges);
	return true;
}

static bool run(struct scan_state *state, struct err *err)
{
	_Static_assert(READ_ROWS == 256, "as in the FETCH below");
	struct postgres *pg = &state->scan->reader->pg;
	size_t count = 0;

	if (!open_cursor(state->scan, err))
		return false;
	do {
		CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

		if (!postgres_query(pg, "FETCH 256 FROM rows", NULL, 0, &rows, err))
			return false;
		count = rows.count;
		for (size_t i = 0; i < count; i++)
			if (!read_row(state, &rows, i, err))
				return false;
	} while (count);
	return parallel_scan_read(state->parallel, &state->batch, err) &&
	       postgres_exec(pg, "CLOSE rows", err);
}

bool row_scan_run(const struct row_scan *scan, struct err *err)
{
	struct parallel_scan parallel = {
		.leader = scan->reader,
		.rows = { .pg = &scan->reader->pg,
			  .bounds = &scan->reader->bounds,
			  .stats = &scan->reader->stats,
			  .on_payload = scan->on_payload,
			  .self = scan->self },
		.workers = scan->workers,
		.worker_count = scan->worker_count,
	};
	struct scan_state state = { .scan = scan, .parallel = &parallel };
	uint64_t began_ns = clock_monotonic_ns();
	bool good = parallel_scan_end(&parallel, run(&state, err), err);

	scan->reader->stats.read_ns += clock_monotonic_ns() - began_ns;
	arena_free(&state.batch.arena);
	return good;
}

bool row_scan_days(const struct row_scan *scan, struct arena *arena, int64_t **ret_days,
		   size_t *ret_count, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct scan_query query = days_query(scan, arena);

	if (!postgres_query(&scan->reader->pg, query.sql, query.params, SCAN_PARAMS, &rows, err))
		return false;
	*ret_days = arena_array(arena, int64_t, rows.count);
	*ret_count = rows.count;
	for (size_t i = 0; i < rows.count; i++)
		(*ret_days)[i] = postgres_get_i64(&rows, i, 0);
	return true;
}
