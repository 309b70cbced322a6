// SPDX-License-Identifier: Apache-2.0
#include "store/row_source.h"

#include "base/clock.h"
#include "store/limits.h"
#include "store/store_window.h"

/* A part of where rows may lie. Rows of `chunk` are of one hour each. */
struct part {
	const char *day; /* of its samples: bigint, since 1970 */
	const char *from;
	enum { ALWAYS, WITH_HOURS, WITH_GAUGES, WITH_DAYS } when;
	bool is_sums;
};

#define HOLDS   "bucket = ANY ($3) AND first_ms < $4 AND last_ms >= $5"
#define HOURS   "day >= $6 AND day <= $7 AND first_ms >= $8 AND first_ms < $9"
#define DAY     "(day - date '1970-01-01')::bigint"
#define RAW_DAY "generate_series(greatest(first_ms, $5) / 86400000, least(last_ms, $4) / 86400000)"

_Static_assert(ROLLUP_DAY == 4, "said below");
static const struct part parts[] = {
	{ DAY,
	  "rollup WHERE " HOURS " AND kind = ANY ($10) "
	  "AND (folded IS NULL OR first_ms < $13 OR first_ms >= $14) AND " HOLDS,
	  WITH_HOURS, true },
	{ DAY,
	  "rollup WHERE day >= $6 AND day <= $7 AND kind = 4 "
	  "AND first_ms >= $13 AND first_ms < $14 AND " HOLDS,
	  WITH_DAYS, true },
	{ DAY, "chunk WHERE " HOURS " AND rolled IS NULL AND " HOLDS, WITH_HOURS, false },
	/* Summed up by who left gauges out. */
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

static bool is_needed(const struct row_scan *scan, const struct part *part)
{
	bool needed = false;

	switch (part->when) {
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
	return needed && (part->is_sums || !scan->sums_alone);
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
		       struct postgres_param params[ROW_SOURCE_PARAMS])
{
	uint64_t arrival_ms = scan->start_ms > AHEAD_MS ? scan->start_ms - AHEAD_MS : 0;
	uint64_t start_hour_ms = scan->start_ms - scan->start_ms % MS_PER_HOUR;
	uint64_t first_ms = has_hours(scan) ? scan->first_hour_ms : start_hour_ms;
	uint64_t end_ms = has_hours(scan) ? scan->end_hour_ms : start_hour_ms;
	const struct postgres_param all[ROW_SOURCE_PARAMS] = {
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
		/* Without days all hours are before the first of them. */
		postgres_i64(arena, has_days(scan) ? (int64_t)scan->first_day_ms : INT64_MAX),
		postgres_i64(arena, has_days(scan) ? (int64_t)scan->end_day_ms : INT64_MAX),
	};

	memcpy(params, all, sizeof(all));
}

static void add_parts(const struct row_scan *scan, bool days, struct buf *sql)
{
	bool is_first = true;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (!is_needed(scan, &parts[i]))
			continue;
		buf_format(
			sql, "%sSELECT %s FROM %s", is_first ? "" : " UNION ALL ",
			days ? parts[i].day
			     : "tableoid::regclass::text, ctid, octet_length(payload), directory",
			parts[i].from);
		is_first = false;
	}
}

struct row_source row_source_cursor(const struct row_scan *scan, struct arena *arena)
{
	struct row_source source = { 0 };
	struct buf sql = { .arena = arena };

	buf_format(&sql, "DECLARE rows NO SCROLL CURSOR FOR ");
	add_parts(scan, false, &sql);
	buf_u8(&sql, '\0');
	source.sql = sql.ptr;
	set_params(scan, arena, source.params);
	return source;
}

struct row_source row_source_days(const struct row_scan *scan, struct arena *arena)
{
	struct row_source source = { 0 };
	struct buf sql = { .arena = arena };

	buf_format(&sql,
		   "SELECT DISTINCT day FROM (SELECT NULL::bigint AS day WHERE false UNION ALL ");
	add_parts(scan, true, &sql);
	buf_format(&sql, ") AS days ORDER BY day%c", '\0');
	source.sql = sql.ptr;
	set_params(scan, arena, source.params);
	return source;
}
