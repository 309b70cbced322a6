#include "store/row_scan.h"

#include "base/clock.h"
#include "store/limits.h"

/* Rows of one partition whose payloads are wanted and not read yet. */
struct wanted {
	struct arena arena; /* of the names and places */
	str partition;
	str places[READ_ROWS]; /* ctid: good within one snapshot */
	size_t count, bytes;
};

/* Binary values of the columns of the cursor. */
enum { ROW_PARTITION, ROW_PLACE, ROW_PAYLOAD_LEN, ROW_DIRECTORY };

#define COLUMNS "tableoid::regclass::text, ctid, octet_length(payload), directory"
#define HOLDS   "bucket = ANY ($4) AND first_ms < $5 AND last_ms >= $6"

static const char declare[] =
	"DECLARE rows NO SCROLL CURSOR FOR "
	"SELECT " COLUMNS " FROM chunk_raw WHERE arrival >= $1 AND arrival < $2 AND " HOLDS
	" UNION ALL "
	"SELECT " COLUMNS " FROM chunk_raw WHERE arrival >= $3 AND late AND " HOLDS;

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
	};

	return postgres_query(scan->pg, declare, params, ARRAY_LEN(params), &rows, err);
}

static bool read_wanted(const struct row_scan *scan, struct wanted *wanted, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (wanted->count == 0)
		return true;

	/* The name is the server's own, quoted where it must be. */
	str sql = str_format(&wanted->arena,
			     "SELECT payload FROM " STR_FMT " WHERE ctid = ANY ($1)%c",
			     STR_ARG(wanted->partition), '\0');
	struct postgres_param places = postgres_tids(&wanted->arena, wanted->places, wanted->count);

	if (!postgres_query(scan->pg, sql.ptr, &places, 1, &rows, err))
		return false;
	if (rows.count != wanted->count)
		return err_set(err, ERR_IO, "%zu of %zu rows are gone from " STR_FMT,
			       wanted->count - rows.count, wanted->count,
			       STR_ARG(wanted->partition));
	for (size_t i = 0; i < rows.count; i++) {
		str payload = postgres_get(&rows, i, 0);

		scan->stats->chunks++;
		scan->stats->bytes += payload.len;
		if (!store_bounds_hold(scan->bounds, err) || !scan->take(scan->self, payload, err))
			return false;
	}
	arena_reset(&wanted->arena);
	*wanted = (struct wanted){ .arena = wanted->arena };
	return true;
}

static bool look_at_row(const struct row_scan *scan, const struct postgres_rows *rows, size_t row,
			struct wanted *wanted, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct chunk_directory directory;
	str partition = postgres_get(rows, row, ROW_PARTITION);

	scan->stats->rows++;
	if (!store_bounds_hold(scan->bounds, err))
		return false;
	if (!chunk_directory_read(postgres_get(rows, row, ROW_DIRECTORY), &directory, &arena, err))
		return err_wrap(err, "row in " STR_FMT, STR_ARG(partition));
	if (!scan->wants(scan->self, &directory))
		return true;
	if ((!str_eq(partition, wanted->partition) || wanted->count == READ_ROWS ||
	     wanted->bytes >= READ_PAYLOAD_BYTES) &&
	    !read_wanted(scan, wanted, err))
		return false;
	if (wanted->count == 0)
		wanted->partition = str_copy(&wanted->arena, partition);
	wanted->places[wanted->count++] =
		str_copy(&wanted->arena, postgres_get(rows, row, ROW_PLACE));
	wanted->bytes += (size_t)postgres_get_i64(rows, row, ROW_PAYLOAD_LEN);
	return true;
}

static bool run(const struct row_scan *scan, struct wanted *wanted, struct err *err)
{
	_Static_assert(READ_ROWS == 256, "said in the FETCH below");
	size_t count = 0;

	if (!open_cursor(scan, err))
		return false;
	do {
		CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

		if (!postgres_query(scan->pg, "FETCH 256 FROM rows", NULL, 0, &rows, err))
			return false;
		count = rows.count;
		for (size_t i = 0; i < count; i++)
			if (!look_at_row(scan, &rows, i, wanted, err))
				return false;
	} while (count);
	return read_wanted(scan, wanted, err) && postgres_exec(scan->pg, "CLOSE rows", err);
}

bool row_scan_run(const struct row_scan *scan, struct err *err)
{
	struct wanted wanted = { 0 };
	uint64_t began_ns = clock_monotonic_ns();
	bool good = run(scan, &wanted, err);

	scan->stats->read_ns += clock_monotonic_ns() - began_ns;
	arena_free(&wanted.arena);
	return good;
}
