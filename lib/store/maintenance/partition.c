// SPDX-License-Identifier: Apache-2.0
#include "store/maintenance/partition.h"

#include "base/clock.h"
#include "store/limits.h"

#include <inttypes.h>
#include <time.h>

const struct partition_table_kind partition_tables[PARTITION_TABLE_COUNT] = {
	[PARTITION_LABEL_PAIR] = { "label_pair", MS_PER_DAY },
	[PARTITION_SERIES] = { "series", MS_PER_DAY },
	[PARTITION_CHUNK_RAW] = { "chunk_raw", MS_PER_HOUR },
	[PARTITION_CHUNK] = { "chunk", MS_PER_DAY },
	[PARTITION_ROLLUP] = { "rollup", MS_PER_DAY },
};

static struct tm utc(uint64_t unix_ms)
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm tm = { 0 };

	gmtime_r(&seconds, &tm);
	return tm;
}

str partition_name(enum partition_table table, uint64_t unix_ms, struct arena *arena)
{
	const struct partition_table_kind *kind = &partition_tables[table];
	struct tm tm = utc(unix_ms);

	if (kind->span_ms == MS_PER_DAY)
		return str_format(arena, "%s_%04d%02d%02d", kind->name, tm.tm_year + 1900,
				  tm.tm_mon + 1, tm.tm_mday);
	return str_format(arena, "%s_%04d%02d%02d%02d", kind->name, tm.tm_year + 1900,
			  tm.tm_mon + 1, tm.tm_mday, tm.tm_hour);
}

/* Digits that are no date are rejected because the name of the parsed time differs. */
bool partition_name_parse(enum partition_table table, str name, uint64_t *ret_start_ms)
{
	AUTO_ARENA arena = { 0 };
	const struct partition_table_kind *kind = &partition_tables[table];
	size_t prefix = strlen(kind->name) + 1, digits = kind->span_ms == MS_PER_DAY ? 8 : 10;
	uint64_t number;

	if (name.len != prefix + digits || !str_to_u64(str_skip(name, prefix), &number))
		return false;
	if (digits == 8)
		number *= 100;

	struct tm tm = {
		.tm_year = (int)(number / 1000000) - 1900,
		.tm_mon = (int)(number / 10000 % 100) - 1,
		.tm_mday = (int)(number / 100 % 100),
		.tm_hour = (int)(number % 100),
	};
	time_t seconds = timegm(&tm);

	if (seconds < 0 || !str_eq(partition_name(table, (uint64_t)seconds * 1000, &arena), name))
		return false;
	*ret_start_ms = (uint64_t)seconds * 1000;
	return true;
}

static bool is_there(struct postgres *pg, enum partition_table table, str name, bool *ret_there,
		     struct err *err)
{
	static const char sql[] =
		"SELECT FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid "
		"WHERE inhparent = $1::text::regclass AND child.relname = $2 "
		"AND NOT inhdetachpending";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		postgres_text(str_from(partition_tables[table].name)),
		postgres_text(name),
	};

	if (!postgres_query(pg, sql, params, ARRAY_LEN(params), &rows, err))
		return false;
	*ret_there = rows.count > 0;
	return true;
}

/* A bound of the partition as SQL, in UTC. */
static str bound(enum partition_table table, uint64_t unix_ms, struct arena *arena)
{
	struct tm tm = utc(unix_ms);

	if (partition_tables[table].span_ms == MS_PER_DAY)
		return str_format(arena, "'%04d-%02d-%02d'", tm.tm_year + 1900, tm.tm_mon + 1,
				  tm.tm_mday);
	return str_format(arena, "'%04d-%02d-%02d %02d:00:00+00'", tm.tm_year + 1900, tm.tm_mon + 1,
			  tm.tm_mday, tm.tm_hour);
}

/* before: statements to execute first, in the same transaction; may be empty. */
static bool attach(struct postgres *pg, enum partition_table table, str name, uint64_t start_ms,
		   str before, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	const struct partition_table_kind *kind = &partition_tables[table];
	str from = bound(table, start_ms, &arena);
	str to = bound(table, start_ms + kind->span_ms, &arena);
	str sql = str_format(&arena,
			     "BEGIN; SET LOCAL lock_timeout = '%dms';" STR_FMT
			     "ALTER TABLE %s ATTACH PARTITION " STR_FMT " FOR VALUES FROM (" STR_FMT
			     ") TO (" STR_FMT "); COMMIT%c",
			     LOCK_TIMEOUT_MS, STR_ARG(before), kind->name, STR_ARG(name),
			     STR_ARG(from), STR_ARG(to), '\0');
	char state[sizeof(pg->sqlstate)];
	struct err later;

	if (postgres_exec(pg, sql.ptr, err))
		return true;
	memcpy(state, pg->sqlstate, sizeof(state));
	(void)!postgres_exec(pg, "ROLLBACK", &later);
	memcpy(pg->sqlstate, state, sizeof(state));
	return false;
}

static bool create(struct postgres *pg, enum partition_table table, str name, uint64_t start_ms,
		   struct err *err)
{
	AUTO_ARENA arena = { 0 };

	return attach(pg, table, name, start_ms,
		      str_format(&arena, "CREATE TABLE " STR_FMT " (LIKE %s INCLUDING ALL);",
				 STR_ARG(name), partition_tables[table].name),
		      err);
}

bool partition_attach(struct postgres *pg, enum partition_table table, str name, struct err *err)
{
	uint64_t start_ms;

	if (!partition_name_parse(table, name, &start_ms))
		return err_set(err, ERR_INVALID, STR_FMT " is not the name of a partition",
			       STR_ARG(name));
	return attach(pg, table, name, start_ms, STR(""), err);
}

/* True if another ingester is creating the same partition, or a lock was not available. */
static bool may_pass(const struct postgres *pg)
{
	static const char *const states[] = {
		"42P07", /* duplicate_table */
		"23505", /* unique_violation, of the catalogue */
		"42P17", /* the range overlaps one that was attached just now */
		"55P03", /* lock_not_available: lock_timeout */
		"40P01", /* deadlock_detected */
	};

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (postgres_failed_with(pg, states[i]))
			return true;
	return false;
}

bool partition_make(struct postgres *pg, enum partition_table table, uint64_t unix_ms,
		    bool *ret_made, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str name = partition_name(table, unix_ms, &arena);
	uint64_t start_ms = unix_ms - unix_ms % partition_tables[table].span_ms;
	bool there = false;

	*ret_made = false;
	for (unsigned int i = 0; i < LOCK_TRIES; i++) {
		if (!is_there(pg, table, name, &there, err))
			return false;
		if (there)
			return true;
		if (create(pg, table, name, start_ms, err)) {
			*ret_made = true;
			return true;
		}
		if (!may_pass(pg))
			break;
		if (!postgres_sleep(pg, LOCK_TIMEOUT_MS))
			break;
	}
	return err_wrap(err, "create partition " STR_FMT, STR_ARG(name));
}
