// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "store/limits.h"
#include "store/read/sample_gaps_internal.h"
#include "store/scan/row_scan.h"

/* The first and last hour with sums, of days that have sums but no partition of samples. */
static const char sql[] =
	"SELECT min(first_ms), max(first_ms) FROM rollup "
	"WHERE bucket = ANY ($1) AND first_ms >= $2 AND first_ms < $3 AND day = ANY ("
	"SELECT day::date FROM generate_series($4::date, $5::date, '1 day') AS day "
	"WHERE NOT EXISTS (SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
	"WHERE inhparent = 'chunk'::regclass AND NOT inhdetachpending "
	"AND relname = 'chunk_' || to_char(day, 'YYYYMMDD')))";

static bool find_gap(struct store_reader *reader, const struct scan_plan *plan, uint64_t start_ms,
		     uint64_t end_ms, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		row_scan_buckets(plan, &arena),
		postgres_i64(&arena, (int64_t)(start_ms - start_ms % MS_PER_HOUR)),
		postgres_i64(&arena, (int64_t)end_ms),
		postgres_date(&arena, (int64_t)(start_ms / MS_PER_DAY)),
		postgres_date(&arena, (int64_t)((end_ms - 1) / MS_PER_DAY)),
	};

	if (!postgres_query(&reader->pg, sql, params, ARRAY_LEN(params), &rows, err))
		return false;
	if (!postgres_get(&rows, 0, 0).ptr)
		return true;

	uint64_t first_ms = (uint64_t)postgres_get_i64(&rows, 0, 0);
	uint64_t last_ms = (uint64_t)postgres_get_i64(&rows, 0, 1) + MS_PER_HOUR;

	reader->gaps[reader->gap_count++] = (struct store_gap){
		.start_ms = first_ms > start_ms ? first_ms : start_ms,
		.end_ms = last_ms < end_ms ? last_ms : end_ms,
	};
	return true;
}

bool sample_gaps_find(struct store_reader *reader, const struct scan_plan *plan, struct err *err)
{
	struct scan_range needed[STORE_GAPS_MAX];
	/* Partitions of samples are kept for one day more than the retention (retention.c). */
	uint64_t today = clock_unix_ns() / NS_PER_MS / MS_PER_DAY;

	scan_plan_remainder(plan, needed);
	reader->gap_count = 0;
	for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
		if (needed[i].start_ms >= needed[i].end_ms ||
		    needed[i].start_ms / MS_PER_DAY + 1 >= today)
			continue;
		if (!find_gap(reader, plan, needed[i].start_ms, needed[i].end_ms, err))
			return false;
	}
	return true;
}
