// SPDX-License-Identifier: Apache-2.0
#include "store/scan/reader.h"

#include "base/clock.h"
#include "store/limits.h"
#include "store/maintenance/schema.h"

#include <stdio.h>

enum { END_MS = 2000 };

/*
 * The tables are locked first. LOCK TABLE takes no snapshot, so the snapshot of the first SELECT is
 * not older than the locks. DETACH waits for every transaction with a lock on the table; therefore
 * every partition of the snapshot exists until the transaction ends, including those read last.
 */
static const char begin[] =
	"BEGIN ISOLATION LEVEL REPEATABLE READ;"
	"LOCK TABLE ONLY chunk_raw, ONLY chunk, ONLY rollup, ONLY series, ONLY label_pair "
	"IN ACCESS SHARE MODE";

static bool connect(struct store_reader *reader, struct err *err)
{
	_Static_assert(QUERY_TIMEOUT_MAX_MS == 600000, "as in the settings below");
	const struct postgres_options options = {
		.conninfo = reader->options.postgres,
		.application = "decima-querier",
		/* The querier enforces its bounds; the server's timeouts apply if the querier is
		   gone. */
		.settings = "-c default_transaction_read_only=on -c statement_timeout=600s "
			    "-c idle_in_transaction_session_timeout=600s "
			    "-c client_connection_check_interval=500ms"
			    /* Every query has an index, but a day that has just begun has no
			     * statistics; and a cursor is always read to its end. */
			    " -c enable_seqscan=off -c cursor_tuple_fraction=1 -c jit=off"
			    " -c max_parallel_workers_per_gather=0",
		.deadline_ms =
			reader->options.wait_ms ? reader->options.wait_ms : QUERY_TIMEOUT_MAX_MS,
		.cancel = reader->options.cancel,
	};

	return postgres_open(&reader->pg, &options, err);
}

bool store_reader_open(struct store_reader *reader, const struct store_reader_options *options,
		       struct err *err)
{
	*reader = (struct store_reader){ .options = *options };
	return connect(reader, err);
}

void store_reader_close(struct store_reader *reader)
{
	postgres_close(&reader->pg);
}

/* Retention waits for every query: none may have a later deadline than QUERY_TIMEOUT_MAX_MS. */
static void set_bounds(struct store_reader *reader, const struct store_bounds *bounds)
{
	uint64_t last_ns = clock_monotonic_ns() + QUERY_TIMEOUT_MAX_MS * NS_PER_MS;

	reader->bounds = bounds ? *bounds : (struct store_bounds){ .deadline_ns = last_ns };
	if (reader->bounds.deadline_ns > last_ns)
		reader->bounds.deadline_ns = last_ns;
	postgres_set_bounds(&reader->pg, reader->bounds.deadline_ns, reader->bounds.cancel);
}

bool store_reader_begin(struct store_reader *reader, const struct store_bounds *bounds,
			struct err *err)
{
	if (!postgres_is_open(&reader->pg)) {
		store_reader_close(reader);
		if (!connect(reader, err))
			return false;
	}
	reader->stats = (struct store_stats){ 0 };
	set_bounds(reader, bounds);
	/* Before the transaction: a failed statement would abort it. */
	return schema_check(&reader->pg, err) && postgres_exec(&reader->pg, begin, err);
}

void store_reader_end(struct store_reader *reader)
{
	struct err err;

	/* The query may have reached its deadline; ending it has a timeout of its own. */
	postgres_set_bounds(&reader->pg, clock_monotonic_ns() + END_MS * NS_PER_MS, NULL);
	if (postgres_is_open(&reader->pg) && !postgres_exec(&reader->pg, "ROLLBACK", &err))
		store_reader_close(reader);
}

bool store_reader_export(struct store_reader *reader, char *ret_snapshot, size_t size,
			 struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!postgres_query(&reader->pg, "SELECT pg_export_snapshot()", NULL, 0, &rows, err))
		return false;

	str snapshot = rows.count ? postgres_get(&rows, 0, 0) : STR("");

	/* The id becomes part of a statement. */
	for (size_t i = 0; i < snapshot.len; i++)
		if (!strchr("0123456789ABCDEF-", snapshot.ptr[i]))
			snapshot.len = 0;
	if (snapshot.len == 0 || snapshot.len >= size)
		return err_set(err, ERR_IO, "PostgreSQL exported no valid snapshot id");
	memcpy(ret_snapshot, snapshot.ptr, snapshot.len);
	ret_snapshot[snapshot.len] = '\0';
	return true;
}

bool store_reader_join(struct store_reader *reader, const char *snapshot,
		       const struct store_bounds *bounds, struct err *err)
{
	char sql[160];

	if (!postgres_is_alive(&reader->pg)) {
		store_reader_close(reader);
		if (!connect(reader, err))
			return false;
	}
	set_bounds(reader, bounds);
	snprintf(sql, sizeof(sql),
		 "BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '%s'", snapshot);
	return postgres_exec(&reader->pg, sql, err);
}
