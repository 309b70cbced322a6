// SPDX-License-Identifier: Apache-2.0
#include "store/scan/row_scan.h"

#include "base/clock.h"
#include "store/compact/rollup.h"
#include "store/limits.h"

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

static struct scan_query scan_query_of(const struct scan_plan *plan, bool days, const char *before,
				       const char *after, struct arena *arena)
{
	struct scan_query query = { 0 };
	struct buf sql = { .arena = arena };

	buf_format(&sql, "%s", before);
	add_sources(plan, days, &sql);
	buf_format(&sql, "%s%c", after, '\0');
	query.sql = sql.ptr;
	set_params(plan, arena, query.params);
	return query;
}

static bool begin(struct row_scan *scan, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct scan_query query =
		scan_query_of(scan->plan, false, "DECLARE rows NO SCROLL CURSOR FOR ", "", &arena);

	scan->has_begun = true;
	scan->began_ns = clock_monotonic_ns();
	scan->parallel = (struct parallel_scan){ { scan->readers, scan->plan, scan->sinks },
						 scan->reader_count };
	return postgres_query(&scan->readers->pg, query.sql, query.params, SCAN_PARAMS, &rows, err);
}

static bool fetch(struct row_scan *scan, struct err *err)
{
	_Static_assert(READ_ROWS == 256, "as in the FETCH below");
	postgres_rows_done(&scan->rows);
	scan->next = 0;
	return (scan->has_begun || begin(scan, err)) &&
	       postgres_query(&scan->readers->pg, "FETCH 256 FROM rows", NULL, 0, &scan->rows, err);
}

static bool read_directory(struct row_scan *scan, size_t row, struct err *err)
{
	str partition = postgres_get(&scan->rows, row, ROW_PARTITION);

	arena_reset(&scan->arena);
	scan->readers->stats.rows++;
	if (!store_bounds_check(&scan->readers->bounds, err))
		return false;
	if (!chunk_directory_read(postgres_get(&scan->rows, row, ROW_DIRECTORY), &scan->directory,
				  &scan->arena, err)) {
		scan->readers->stats.unreadable++;
		return err_wrap(err, "a row in " STR_FMT, STR_ARG(partition));
	}
	scan->wanted = arena_array(&scan->arena, bool, scan->directory.series_count);
	return true;
}

bool row_scan_next(struct row_scan *scan)
{
	if (!scan_plan_sources(scan->plan))
		return false;
	while (!scan->has_failed) {
		if (scan->next == scan->rows.count)
			scan->has_failed = !fetch(scan, &scan->err);
		if (scan->has_failed || scan->rows.count == 0)
			return false;
		scan->has_failed = !read_directory(scan, scan->next++, &scan->err);
		if (!scan->has_failed &&
		    scan_plan_wants(scan->plan, &scan->directory, scan->wanted))
			return true;
	}
	return false;
}

void row_scan_take(struct row_scan *scan)
{
	size_t row = scan->next - 1;
	str partition = postgres_get(&scan->rows, row, ROW_PARTITION);

	if (!payload_batch_has_room(&scan->batch, partition) &&
	    !parallel_scan_read(&scan->parallel, &scan->batch, &scan->err)) {
		scan->has_failed = true;
		return;
	}

	size_t len = (size_t)postgres_get_i64(&scan->rows, row, ROW_PAYLOAD_LEN);
	struct chunk_ranges ranges =
		chunk_ranges_choose(&scan->directory, scan->wanted, len, &scan->arena);

	payload_batch_add(&scan->batch, partition, postgres_get(&scan->rows, row, ROW_CTID),
			  &ranges);
}

bool row_scan_end(struct row_scan *scan, struct err *err)
{
	bool good = !scan->has_failed;

	if (!good)
		*err = scan->err;
	if (scan->has_begun) {
		good = good && parallel_scan_read(&scan->parallel, &scan->batch, err) &&
		       postgres_exec(&scan->readers->pg, "CLOSE rows", err);
		good = parallel_scan_end(&scan->parallel, good, err);
		scan->readers->stats.read_ns += clock_monotonic_ns() - scan->began_ns;
	}
	postgres_rows_done(&scan->rows);
	arena_free(&scan->arena);
	arena_free(&scan->batch.arena);
	return good;
}

bool row_scan_days(struct store_reader *reader, const struct scan_plan *plan, struct arena *arena,
		   int64_t **ret_days, size_t *ret_count, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct scan_query query = scan_query_of(
		plan, true,
		"SELECT DISTINCT day FROM (SELECT NULL::bigint AS day WHERE false UNION ALL ",
		") AS days ORDER BY day", arena);

	if (!postgres_query(&reader->pg, query.sql, query.params, SCAN_PARAMS, &rows, err))
		return false;
	*ret_days = arena_array(arena, int64_t, rows.count);
	*ret_count = rows.count;
	for (size_t i = 0; i < rows.count; i++)
		(*ret_days)[i] = postgres_get_i64(&rows, i, 0);
	return true;
}
