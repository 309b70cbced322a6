// SPDX-License-Identifier: Apache-2.0
#include "store/row_scan.h"

#include "base/clock.h"
#include "store/limits.h"
#include "store/reader_window.h"
#include "store/row_crew.h"

/* Binary values of the columns of the cursor. */
enum { ROW_PARTITION, ROW_PLACE, ROW_PAYLOAD_LEN, ROW_DIRECTORY };

#define COLUMNS "tableoid::regclass::text, ctid, octet_length(payload), directory"
#define HOLDS   "bucket = ANY ($4) AND first_ms < $5 AND last_ms >= $6"

/* Chunks from before gauges were summed up have those of theirs in no sum. */
_Static_assert(ROLLUP_GAUGES == 3, "said below");
static const char declare[] =
	"DECLARE rows NO SCROLL CURSOR FOR "
	"SELECT " COLUMNS " FROM rollup WHERE day >= $7 AND day <= $8 AND " HOLDS
	" AND first_ms >= $9 AND first_ms < $10 AND kind = ANY ($11) UNION ALL "
	"SELECT " COLUMNS " FROM chunk WHERE day >= $7 AND day <= $8 AND " HOLDS
	" AND (rolled IS NULL OR NOT gauges AND 3 = ANY ($11) "
	"OR first_ms < $9 OR first_ms >= $10) UNION ALL "
	"SELECT " COLUMNS " FROM chunk_raw "
	"WHERE merged IS NULL AND arrival >= $1 AND arrival < $2 AND " HOLDS " UNION ALL "
	"SELECT " COLUMNS " FROM chunk_raw "
	"WHERE merged IS NULL AND arrival >= $3 AND late AND " HOLDS;

static bool open_cursor(const struct row_scan *scan, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	int32_t buckets[SERIES_BUCKETS];
	size_t count = 0;

	for (int32_t i = 0; i < SERIES_BUCKETS; i++)
		if (!scan->buckets || scan->buckets[i])
			buckets[count++] = i;

	uint64_t first_ms = scan->start_ms > AHEAD_MS ? scan->start_ms - AHEAD_MS : 0;
	const struct postgres_param params[] = {
		postgres_time(&arena, first_ms),
		postgres_time(&arena, scan->end_ms + LATE_MS),
		postgres_time(&arena, scan->end_ms + LATE_MS),
		postgres_i32s(&arena, buckets, count),
		postgres_i64(&arena, (int64_t)scan->end_ms),
		postgres_i64(&arena, (int64_t)scan->start_ms),
		postgres_date(&arena, (int64_t)(scan->start_ms / MS_PER_DAY)),
		postgres_date(&arena, (int64_t)(scan->end_ms / MS_PER_DAY)),
		postgres_i64(&arena, (int64_t)scan->first_hour_ms),
		postgres_i64(&arena, (int64_t)scan->end_hour_ms),
		postgres_i32s(&arena, scan->kinds, scan->kind_count),
	};

	return postgres_query(&scan->reader->pg, declare, params, ARRAY_LEN(params), &rows, err);
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
	if (!scan->wants(scan->self, &directory))
		return true;
	if (!row_batch_has_room(&walk->batch, partition) &&
	    !row_crew_read(walk->crew, &walk->batch, err))
		return false;
	row_batch_add(&walk->batch, partition, postgres_get(rows, row, ROW_PLACE),
		      (size_t)postgres_get_i64(rows, row, ROW_PAYLOAD_LEN));
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
