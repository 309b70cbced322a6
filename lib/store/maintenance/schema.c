// SPDX-License-Identifier: Apache-2.0
#include "store/maintenance/schema.h"

#include "base/log.h"

/* The key of the advisory lock: "decima" in ASCII. */
#define LOCK          "SELECT pg_advisory_xact_lock(110386840822113)"
#define APPLIED_TABLE "schema_step"

/*
 * Samples are committed without waiting for the disk, since Kafka can replay them. Kafka cannot
 * replay tables: once reported as created, they must exist after a crash.
 */
#define DURABLE "SET LOCAL synchronous_commit = on"

#define SQLSTATE_NO_TABLE "42P01"

static const char applied_table[] = "CREATE TABLE IF NOT EXISTS " APPLIED_TABLE " ("
				    "number integer PRIMARY KEY, name text NOT NULL,"
				    "applied timestamptz NOT NULL DEFAULT now())";

static bool last_step(struct postgres *pg, int64_t *ret_number, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!postgres_query(pg, "SELECT coalesce(max(number), 0) FROM " APPLIED_TABLE, NULL, 0,
			    &rows, err))
		return false;
	*ret_number = postgres_get_i64(&rows, 0, 0);
	return true;
}

static bool apply_step(struct postgres *pg, const struct schema_step *step, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		postgres_i64(&arena, step->number),
		postgres_text(str_from(step->name)),
	};

	return postgres_exec(pg, step->sql, err) &&
	       postgres_query(pg, "INSERT INTO " APPLIED_TABLE " (number, name) VALUES ($1, $2)",
			      params, ARRAY_LEN(params), &rows, err);
}

/* One transaction: either all missing steps are applied or none. */
static bool apply_missing(struct postgres *pg, struct err *err)
{
	int64_t last = 0;

	if (!postgres_exec(pg, DURABLE, err) || !postgres_exec(pg, LOCK, err) ||
	    !postgres_exec(pg, applied_table, err) || !last_step(pg, &last, err))
		return false;
	for (size_t i = 0; i < schema_step_count; i++) {
		if (schema_steps[i].number <= last)
			continue;
		if (!apply_step(pg, &schema_steps[i], err))
			return err_wrap(err, "schema %s", schema_steps[i].name);
		log_info("schema changed", "step=%s", schema_steps[i].name);
	}
	return true;
}

bool schema_apply(struct postgres *pg, struct err *err)
{
	struct err later;

	if (!postgres_exec(pg, "BEGIN", err))
		return false;
	if (apply_missing(pg, err))
		return postgres_exec(pg, "COMMIT", err);
	(void)!postgres_exec(pg, "ROLLBACK", &later);
	return false;
}

bool schema_check(struct postgres *pg, struct err *err)
{
	int64_t last = 0;

	if (!last_step(pg, &last, err)) {
		if (!postgres_failed_with(pg, SQLSTATE_NO_TABLE))
			return false;
		last = 0;
	}
	return last >= (int64_t)schema_step_count ||
	       err_set(err, ERR_NOT_FOUND,
		       "the database has no tables for profiles yet: an ingester creates them");
}
