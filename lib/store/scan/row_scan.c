// SPDX-License-Identifier: Apache-2.0
#include "store/scan/row_scan.h"

#include "base/clock.h"
#include "store/compact/rollup.h"
#include "store/limits.h"
#include "store/scan/parallel_scan.h"

enum { SCAN_PARAMS = 14 };

struct scan_query {
	const char *sql;
	struct postgres_param params[SCAN_PARAMS];
};

/* Columns of the cursor, in binary format. */
enum { ROW_PARTITION, ROW_CTID, ROW_PAYLOAD_LEN, ROW_DIRECTORY };

/* A table with a condition. A row of `chunk` belongs to one hour. */
struct row_source {
	const char *day; /* day of the samples: bigint, since 1970 */
	const char *from;
};

#define HOLDS   "bucket = ANY ($3) AND first_ms < $4 AND last_ms >= $5"
#define HOURS   "day >= $6 AND day <= $7 AND first_ms >= $8 AND first_ms < $9"
#define DAY     "(day - date '1970-01-01')::bigint"
#define RAW_DAY "generate_series(greatest(first_ms, $5) / 86400000, least(last_ms, $4) / 86400000)"

_Static_assert(ROLLUP_DAY == 4, "as in the SQL below");
static const struct row_source sources[SCAN_SOURCE_COUNT] = {
	[SCAN_HOUR_SUMS] = { DAY, "rollup WHERE " HOURS " AND kind = ANY ($10) "
				  "AND (folded IS NULL OR first_ms < $13 OR first_ms >= $14) "
				  "AND " HOLDS },
	[SCAN_DAY_SUMS] = { DAY, "rollup WHERE day >= $6 AND day <= $7 AND kind = 4 "
				 "AND first_ms >= $13 AND first_ms < $14 AND " HOLDS },
	[SCAN_NOT_SUMMED] = { DAY, "chunk WHERE " HOURS " AND rolled IS NULL AND " HOLDS },
	[SCAN_GAUGES] = { DAY, "chunk WHERE " HOURS
			       " AND rolled IS NOT NULL AND NOT gauges AND " HOLDS },
	[SCAN_BEFORE_HOURS] = { DAY, "chunk WHERE day = $6 AND first_ms >= $11 AND first_ms < $8 "
				     "AND " HOLDS },
	[SCAN_FROM_HOURS] = { DAY, "chunk WHERE day >= $12 AND day <= $7 AND first_ms >= $9 "
				   "AND " HOLDS },
	[SCAN_RAW] = { RAW_DAY, "chunk_raw WHERE merged IS NULL AND arrival >= $1 AND arrival < $2 "
				"AND " HOLDS },
	[SCAN_RAW_LATE] = { RAW_DAY, "chunk_raw WHERE merged IS NULL AND arrival >= $2 AND late "
				     "AND " HOLDS },
};

struct postgres_param row_scan_buckets(const struct scan_plan *plan, struct arena *arena)
{
	int32_t buckets[SERIES_BUCKETS];
	size_t count = 0;

	for (int32_t i = 0; i < SERIES_BUCKETS; i++)
		if (!plan->buckets || plan->buckets[i])
			buckets[count++] = i;
	return postgres_i32s(arena, buckets, count);
}

static void set_params(const struct scan_plan *plan, struct arena *arena,
		       struct postgres_param params[SCAN_PARAMS])
{
	const struct scan_range *window = &plan->window;
	uint64_t arrival_ms = window->start_ms > AHEAD_MS ? window->start_ms - AHEAD_MS : 0;
	const struct postgres_param all[SCAN_PARAMS] = {
		postgres_time(arena, arrival_ms),
		postgres_time(arena, window->end_ms + LATE_MS),
		row_scan_buckets(plan, arena),
		postgres_i64(arena, (int64_t)window->end_ms),
		postgres_i64(arena, (int64_t)window->start_ms),
		postgres_date(arena, (int64_t)(window->start_ms / MS_PER_DAY)),
		postgres_date(arena, (int64_t)(window->end_ms / MS_PER_DAY)),
		postgres_i64(arena, (int64_t)plan->hours.start_ms),
		postgres_i64(arena, (int64_t)plan->hours.end_ms),
		postgres_i32s(arena, plan->kinds, plan->kind_count),
		postgres_i64(arena, (int64_t)(window->start_ms - window->start_ms % MS_PER_HOUR)),
		postgres_date(arena, (int64_t)(plan->hours.end_ms / MS_PER_DAY)),
		postgres_i64(arena, (int64_t)plan->days.start_ms),
		postgres_i64(arena, (int64_t)plan->days.end_ms),
	};

	memcpy(params, all, sizeof(all));
}

static void add_sources(const struct scan_plan *plan, bool days, struct buf *sql)
{
	uint32_t read = scan_plan_sources(plan);
	bool is_first = true;

	for (size_t i = 0; i < SCAN_SOURCE_COUNT; i++) {
		if (!(read >> i & 1))
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
	add_sources(&scan->plan, false, &sql);
	buf_u8(&sql, '\0');
	query.sql = sql.ptr;
	set_params(&scan->plan, arena, query.params);
	return query;
}

static struct scan_query days_query(const struct row_scan *scan, struct arena *arena)
{
	struct scan_query query = { 0 };
	struct buf sql = { .arena = arena };

	buf_format(&sql,
		   "SELECT DISTINCT day FROM (SELECT NULL::bigint AS day WHERE false UNION ALL ");
	add_sources(&scan->plan, true, &sql);
	buf_format(&sql, ") AS days ORDER BY day%c", '\0');
	query.sql = sql.ptr;
	set_params(&scan->plan, arena, query.params);
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

	if (!scan_plan_sources(&scan->plan))
		return true;

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
