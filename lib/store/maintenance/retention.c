// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/log.h"
#include "store/limits.h"
#include "store/maintenance/partition.h"
#include "store/maintenance/retention_internal.h"

#include <inttypes.h>

/* The key of an advisory lock: any number that nothing else uses. */
#define LOCK "110386840822114"

#define SQLSTATE_LOCK_TIMEOUT "55P03"

struct retention_pass {
	struct postgres *pg;
	const struct retention *retention;
	uint64_t dropped;
};

struct partition {
	enum partition_table table;
	str name;
	uint64_t start_ms;
	bool is_attached;
	bool is_pending; /* a detach was begun and not finished */
};

static bool query_bool(struct postgres *pg, const char *sql, const struct postgres_param *params,
		       size_t param_count, bool *ret_value, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!postgres_query(pg, sql, params, param_count, &rows, err))
		return false;

	str value = rows.count ? postgres_get(&rows, 0, 0) : (str){ 0 };

	*ret_value = value.len == 1 && value.ptr[0];
	return true;
}

enum partition_ddl { DDL_DETACH, DDL_FINALIZE, DDL_DROP, DDL_COUNT };

/*
 * Executes a DDL statement on one partition. ret_done false: the lock was not available; a later
 * run retries. DETACH CONCURRENTLY waits for queries without blocking other statements. FINALIZE,
 * after an interrupted detach, waits for queries with a lock that attaching a partition needs, and
 * DROP blocks queries of the partition: both have short timeouts.
 */
static bool run_ddl(struct retention_pass *pass, enum partition_ddl ddl,
		    const struct partition *partition, bool *ret_done, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct buf sql = { .arena = &arena };
	const uint64_t timeouts_ms[DDL_COUNT] = {
		[DDL_DETACH] = pass->retention->detach_ms,
		[DDL_FINALIZE] = FINALIZE_TIMEOUT_MS,
		[DDL_DROP] = LOCK_TIMEOUT_MS,
	};

	buf_format(&sql, "SET lock_timeout = %" PRIu64 "%c", timeouts_ms[ddl], '\0');
	if (!postgres_exec(pass->pg, sql.ptr, err))
		return false;
	sql.len = 0;
	switch (ddl) {
	case DDL_DETACH:
	case DDL_FINALIZE:
		buf_format(&sql, "ALTER TABLE %s DETACH PARTITION " STR_FMT " %s%c",
			   partition_tables[partition->table].name, STR_ARG(partition->name),
			   ddl == DDL_DETACH ? "CONCURRENTLY" : "FINALIZE", '\0');
		break;
	case DDL_DROP:
		buf_format(&sql, "DROP TABLE " STR_FMT "%c", STR_ARG(partition->name), '\0');
		break;
	case DDL_COUNT:
		break;
	}
	*ret_done = postgres_exec(pass->pg, sql.ptr, err);
	return *ret_done || postgres_failed_with(pass->pg, SQLSTATE_LOCK_TIMEOUT);
}

/*
 * True if rows still reference series of a day whose retention is over: late rows of chunk_raw
 * (rows that arrived in time are past the retention as well), and rows that could not be dropped
 * yet.
 */
static bool day_is_needed(struct retention_pass *pass, uint64_t start_ms, bool *ret_needed,
			  struct err *err)
{
	AUTO_ARENA arena = { 0 };
	const struct postgres_param params[] = {
		postgres_i64(&arena, (int64_t)(start_ms + MS_PER_DAY)),
		postgres_date(&arena, (int64_t)(start_ms / MS_PER_DAY)),
	};

	return query_bool(pass->pg,
			  "SELECT EXISTS (SELECT FROM chunk_raw WHERE late AND first_ms < $1) "
			  "OR EXISTS (SELECT FROM chunk WHERE day = $2) "
			  "OR EXISTS (SELECT FROM rollup WHERE day = $2)",
			  params, ARRAY_LEN(params), ret_needed, err);
}

/* True if all rows were merged into `chunk`, longer ago than any query lasts. */
static bool is_merged(struct retention_pass *pass, str name, bool *ret_merged, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str sql = str_format(&arena,
			     "SELECT NOT EXISTS (SELECT FROM " STR_FMT " WHERE merged IS NULL"
			     " OR merged > now() - $1::bigint * interval '1 millisecond')%c",
			     STR_ARG(name), '\0');
	/* By the server's clock, which set the column. */
	const struct postgres_param before = postgres_i64(&arena, COMPACT_GRACE_MS);

	return query_bool(pass->pg, sql.ptr, &before, 1, ret_merged, err);
}

/*
 * The retention of chunk_raw counts from the arrival. Tables partitioned by the day of the samples
 * get one more day: a batch may be decoded just in time and stored a little later.
 */
static uint64_t retention_of(const struct retention *retention, enum partition_table table)
{
	uint64_t raw_ms = retention->raw_ms, rollup_ms = retention->rollup_ms;

	switch (table) {
	case PARTITION_CHUNK_RAW:
		return raw_ms;
	case PARTITION_CHUNK:
		return raw_ms + MS_PER_DAY;
	case PARTITION_ROLLUP:
		return rollup_ms + MS_PER_DAY;
	case PARTITION_SERIES:
	case PARTITION_LABEL_PAIR:
	case PARTITION_TABLE_COUNT:
		break;
	}
	return (raw_ms > rollup_ms ? raw_ms : rollup_ms) + MS_PER_DAY;
}

static bool is_past(struct retention_pass *pass, const struct partition *partition, bool *ret_past,
		    struct err *err)
{
	enum partition_table table = partition->table;
	uint64_t kept_ms = retention_of(pass->retention, table), now_ms = pass->retention->now_ms;
	uint64_t end_ms = partition->start_ms + partition_tables[table].span_ms;
	bool needed = false;

	*ret_past = false;
	if (end_ms + kept_ms > now_ms)
		return table != PARTITION_CHUNK_RAW || end_ms + COMPACT_GRACE_MS > now_ms ||
		       is_merged(pass, partition->name, ret_past, err);
	if ((table == PARTITION_SERIES || table == PARTITION_LABEL_PAIR) &&
	    !day_is_needed(pass, partition->start_ms, &needed, err))
		return false;
	*ret_past = !needed;
	return true;
}

/*
 * A writer that was suspended for an hour may have added rows between the check and the detaching:
 * they must be in the table again. A partition that cannot be attached stays, for an operator.
 */
static void attach_again(struct retention_pass *pass, const struct partition *partition)
{
	struct err err;

	if (partition_attach(pass->pg, partition->table, partition->name, &err))
		log_info("partition attached again", "table=" STR_FMT, STR_ARG(partition->name));
	else
		log_warn("partition not attached again", "table=" STR_FMT " error=\"%s\"",
			 STR_ARG(partition->name), err.msg);
}

/* ret_done false: not now, and no other partition of the table while this detach is pending. */
static bool drop_one(struct retention_pass *pass, const struct partition *partition, bool *ret_done,
		     struct err *err)
{
	bool past;

	*ret_done = true;
	if (partition->is_attached &&
	    !run_ddl(pass, partition->is_pending ? DDL_FINALIZE : DDL_DETACH, partition, ret_done,
		     err))
		return false;
	if (!*ret_done)
		return true;
	if (!is_past(pass, partition, &past, err))
		return false;
	if (!past) {
		attach_again(pass, partition);
		return true;
	}
	if (!run_ddl(pass, DDL_DROP, partition, ret_done, err))
		return false;
	if (*ret_done) {
		log_info("partition dropped", "table=" STR_FMT, STR_ARG(partition->name));
		pass->dropped++;
	}
	return true;
}

/*
 * Drops the table's partitions past their retention. Partitions with a pending detach come first,
 * since no other one can be detached before; detached ones that were not dropped are included.
 */
static bool drop_past(struct retention_pass *pass, enum partition_table table, struct err *err)
{
	static const char sql[] =
		"SELECT relname::text, inhparent IS NOT NULL, coalesce(inhdetachpending, false) "
		"FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid "
		"WHERE relkind = 'r' AND starts_with(relname::text, $1 || '_') "
		"AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = $1::regclass) "
		"ORDER BY 3 DESC, 1";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param name = postgres_text(str_from(partition_tables[table].name));
	bool done = true;

	if (!postgres_query(pass->pg, sql, &name, 1, &rows, err))
		return false;
	for (size_t i = 0; i < rows.count && done; i++) {
		struct partition partition = {
			.table = table,
			.name = postgres_get(&rows, i, 0),
			.is_attached = postgres_get(&rows, i, 1).ptr[0],
			.is_pending = postgres_get(&rows, i, 2).ptr[0],
		};
		bool past;

		/* The names of chunk_raw's partitions begin with "chunk_" as well. */
		if (!partition_name_parse(table, partition.name, &partition.start_ms))
			continue;
		if (!is_past(pass, &partition, &past, err))
			return false;
		if (!past && !partition.is_attached)
			attach_again(pass, &partition);
		if ((past || partition.is_pending) && !drop_one(pass, &partition, &done, err))
			return err_wrap(err, "drop " STR_FMT, STR_ARG(partition.name));
	}
	return true;
}

/*
 * Deletes spools that send nothing any more: the samples they could still send are past the
 * retention. One day is added because Kafka may deliver an old batch again.
 */
static bool delete_hosts(struct retention_pass *pass, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	uint64_t kept_ms = pass->retention->raw_ms + MS_PER_DAY;
	const struct postgres_param before = postgres_time(
		&arena, pass->retention->now_ms > kept_ms ? pass->retention->now_ms - kept_ms : 0);

	if (!postgres_query(pass->pg, "DELETE FROM agent_status WHERE received_at < $1", &before, 1,
			    &rows, err))
		return false;
	if (postgres_affected(&rows))
		log_info("hosts forgotten", "count=%ju", (uintmax_t)postgres_affected(&rows));
	return true;
}

/* For one day after its expiry, a link is reported as expired, not as unknown. */
static bool delete_shares(struct retention_pass *pass, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!postgres_query(pass->pg, "DELETE FROM share WHERE expires < now() - interval '1 day'",
			    NULL, 0, &rows, err))
		return false;
	if (postgres_affected(&rows))
		log_info("shares forgotten", "count=%ju", (uintmax_t)postgres_affected(&rows));
	return true;
}

static bool run(struct retention_pass *pass, struct err *err)
{
	if (!delete_hosts(pass, err) || !delete_shares(pass, err))
		return false;
	/* Rows before the series that they reference. */
	return drop_past(pass, PARTITION_CHUNK_RAW, err) && drop_past(pass, PARTITION_CHUNK, err) &&
	       drop_past(pass, PARTITION_ROLLUP, err) && drop_past(pass, PARTITION_SERIES, err) &&
	       drop_past(pass, PARTITION_LABEL_PAIR, err);
}

bool retention_run(struct postgres *pg, const struct retention *retention, uint64_t *ret_dropped,
		   struct err *err)
{
	struct retention_pass pass = { .pg = pg, .retention = retention };
	struct err later;
	bool locked = false;

	if (!query_bool(pg, "SELECT pg_try_advisory_lock(" LOCK ")", NULL, 0, &locked, err))
		return false;
	if (!locked)
		return true;

	bool good = run(&pass, err);

	*ret_dropped += pass.dropped;
	if (!postgres_exec(pg, "RESET lock_timeout; SELECT pg_advisory_unlock(" LOCK ")",
			   good ? err : &later))
		good = false;
	return good;
}
