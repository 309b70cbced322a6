#include "store/compact.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "store/chunk_rows.h"
#include "store/compact_merge.h"
#include "store/limits.h"
#include "store/partition.h"
#include "store/schema.h"

#define MS_PER_DAY UINT64_C(86400000)

/* The time of a row's last sample tells the partition that is missing. */
#define SQLSTATE_NO_PARTITION "23514"

enum { CHUNK_LEVEL = 3, CHUNK_COLUMNS = 7, ANSWER_MS = 60000 };

#define WAITING "merged IS NULL AND NOT unreadable"

/* What one transaction does. */
struct job {
	struct store_compactor *compactor;
	struct arena arena;
	str partition; /* of chunk_raw, as the server names it */
	int32_t bucket;
	VEC(str) places; /* ctid: they are locked, so nobody moves them */
	uint64_t bytes;  /* of their payloads */
	struct compact_merge merge;
	struct buf copy; /* what comes of them */
	uint64_t rows_made, bytes_made;
};

static bool connect(struct store_compactor *compactor, struct err *err)
{
	const struct postgres_options options = {
		.conninfo = compactor->options.postgres,
		.application = "decima-ingester",
		.settings = "-c synchronous_commit=off -c idle_in_transaction_session_timeout=30s "
			    "-c statement_timeout=60s -c lock_timeout=1s",
		.deadline_ms = ANSWER_MS,
		.stop = compactor->options.stop,
	};

	if (postgres_is_open(&compactor->pg))
		return true;
	store_compactor_close(compactor);
	if (!postgres_open(&compactor->pg, &options, err))
		return false;
	if (schema_check(&compactor->pg, err))
		return true;
	store_compactor_close(compactor);
	return false;
}

void store_compactor_init(struct store_compactor *compactor,
			  const struct store_compactor_options *options)
{
	*compactor = (struct store_compactor){ .options = *options };
}

void store_compactor_close(struct store_compactor *compactor)
{
	postgres_close(&compactor->pg);
}

/* The oldest row that nobody else has locked says where there is something to do. */
static bool find_bucket(struct job *job, bool *ret_found, struct err *err)
{
	static const char sql[] = "SELECT tableoid::regclass::text, bucket FROM chunk_raw "
				  "WHERE " WAITING " AND arrival < $1 "
				  "ORDER BY arrival LIMIT 1 FOR UPDATE SKIP LOCKED";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	uint64_t now_ms = clock_unix_ns() / NS_PER_MS, age_ms = job->compactor->options.age_ms;
	struct postgres_param before = postgres_time(&job->arena, now_ms - age_ms);

	if (!postgres_query(&job->compactor->pg, sql, &before, 1, &rows, err))
		return false;
	*ret_found = rows.count > 0;
	if (!*ret_found)
		return true;
	job->partition = str_copy(&job->arena, postgres_get(&rows, 0, 0));
	job->bucket = (int32_t)postgres_get_i64(&rows, 0, 1);
	return true;
}

/* As many as fit into memory; the rest is another job's. */
static bool claim_rows(struct job *job, struct err *err)
{
	_Static_assert(COMPACT_ROWS_MAX == 1024, "said in the statement below");
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct postgres_param bucket = postgres_i64(&job->arena, job->bucket);
	str sql = str_format(&job->arena,
			     "SELECT ctid, samples, octet_length(payload) FROM " STR_FMT
			     " WHERE " WAITING " AND bucket = $1::bigint "
			     "ORDER BY arrival LIMIT 1024 FOR UPDATE SKIP LOCKED%c",
			     STR_ARG(job->partition), '\0');
	uint64_t samples = 0;

	if (!postgres_query(&job->compactor->pg, sql.ptr, &bucket, 1, &rows, err))
		return false;
	for (size_t i = 0; i < rows.count; i++) {
		samples += (uint64_t)postgres_get_i64(&rows, i, 1);
		job->bytes += (uint64_t)postgres_get_i64(&rows, i, 2);
		if (i > 0 && (samples > COMPACT_SAMPLES_MAX || job->bytes > COMPACT_BYTES_MAX)) {
			job->bytes -= (uint64_t)postgres_get_i64(&rows, i, 2);
			break;
		}
		*vec_push(&job->arena, &job->places) =
			str_copy(&job->arena, postgres_get(&rows, i, 0));
	}
	return true;
}

/* ERR_INVALID: the row at ret_bad, by its place, is damaged. */
static bool merge_rows(struct job *job, str *ret_bad, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	str sql = str_format(&job->arena,
			     "SELECT first_ms, last_ms, samples, payload, ctid FROM " STR_FMT
			     " WHERE ctid = ANY ($1) ORDER BY arrival%c",
			     STR_ARG(job->partition), '\0');
	struct postgres_param places =
		postgres_tids(&job->arena, job->places.items, job->places.len);

	if (!postgres_query(&job->compactor->pg, sql.ptr, &places, 1, &rows, err))
		return false;
	if (rows.count != job->places.len)
		return err_set(err, ERR_IO, "%zu of %zu locked rows are gone",
			       job->places.len - rows.count, job->places.len);
	job->merge.arena = &job->arena;
	for (size_t i = 0; i < rows.count; i++) {
		const struct compact_row row = {
			.first_ms = (uint64_t)postgres_get_i64(&rows, i, 0),
			.last_ms = (uint64_t)postgres_get_i64(&rows, i, 1),
			.samples = (uint64_t)postgres_get_i64(&rows, i, 2),
			.payload = postgres_get(&rows, i, 3),
		};

		if (!compact_merge_add(&job->merge, &row, err)) {
			*ret_bad = str_copy(&job->arena, postgres_get(&rows, i, 4));
			return false;
		}
	}
	compact_merge_end(&job->merge);
	return true;
}

static void put_row(void *self, const struct chunk_row *row)
{
	struct job *job = self;

	postgres_copy_row(&job->copy, CHUNK_COLUMNS);
	postgres_copy_date(&job->copy, (int64_t)(row->first_ms / MS_PER_DAY));
	postgres_copy_i32(&job->copy, job->bucket);
	postgres_copy_i64(&job->copy, (int64_t)row->first_ms);
	postgres_copy_i64(&job->copy, (int64_t)row->last_ms);
	postgres_copy_i32(&job->copy, (int32_t)row->set->samples.len);
	postgres_copy_bytes(&job->copy, row->directory);
	postgres_copy_bytes(&job->copy, row->payload);
	job->rows_made++;
	job->bytes_made += row->payload.len;
}

static void make_rows(struct job *job)
{
	AUTO_ARENA scratch = { 0 };

	job->copy.arena = &job->arena;
	postgres_copy_begin(&job->copy);
	for (size_t i = 0; i < job->merge.hours.len; i++) {
		chunk_rows_make(&job->merge.hours.items[i].set, CHUNK_LEVEL, &scratch,
				&(struct chunk_row_sink){ put_row, job });
		arena_reset(&scratch);
	}
	postgres_copy_end(&job->copy);
}

static bool mark(struct job *job, const char *what, const str *places, size_t count,
		 struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	str sql = str_format(&job->arena,
			     "UPDATE " STR_FMT " SET %s WHERE ctid = ANY ($1) AND " WAITING "%c",
			     STR_ARG(job->partition), what, '\0');
	struct postgres_param param = postgres_tids(&job->arena, places, count);

	if (!postgres_query(&job->compactor->pg, sql.ptr, &param, 1, &rows, err))
		return false;
	return postgres_affected(&rows) == count ||
	       err_set(err, ERR_IO, "%zu rows were to be marked, and %zu were", count,
		       (size_t)postgres_affected(&rows));
}

static bool replace_rows(struct job *job, struct err *err)
{
	static const char copy[] =
		"COPY chunk (day, bucket, first_ms, last_ms, samples, directory, payload) "
		"FROM STDIN (FORMAT binary)";
	struct postgres *pg = &job->compactor->pg;

	if (!mark(job, "merged = now()", job->places.items, job->places.len, err) ||
	    !postgres_copy(pg, copy, buf_bytes(&job->copy), err))
		return false;
	failpoint(FAILPOINT_IN_COMPACTION);
	return postgres_exec(pg, "COMMIT", err);
}

static void book(struct job *job)
{
	struct store_compactor *compactor = job->compactor;

	compactor->rows_merged += job->places.len;
	compactor->rows_made += job->rows_made;
	compactor->bytes_merged += job->bytes;
	compactor->bytes_made += job->bytes_made;
	compactor->samples += job->merge.samples;
}

/* What is wrong with a row is said once; queries that need it say it each time. */
static bool set_aside(struct job *job, str place, const struct err *why, struct err *err)
{
	log_warn("a row is damaged, and stays as it came",
		 "table=" STR_FMT " bucket=%d error=\"%s\"", STR_ARG(job->partition),
		 (int)job->bucket, why->msg);
	if (!postgres_exec(&job->compactor->pg, "ROLLBACK; BEGIN", err) ||
	    !mark(job, "unreadable = true", &place, 1, err) ||
	    !postgres_exec(&job->compactor->pg, "COMMIT", err))
		return false;
	job->compactor->rows_unreadable++;
	return true;
}

static bool run(struct job *job, bool *ret_found, struct err *err)
{
	struct postgres *pg = &job->compactor->pg;
	struct err why;
	str bad = { 0 };

	if (!postgres_exec(pg, "BEGIN", err) || !find_bucket(job, ret_found, err))
		return false;
	if (!*ret_found)
		return postgres_exec(pg, "COMMIT", err);
	if (!claim_rows(job, err))
		return false;
	if (!merge_rows(job, &bad, &why)) {
		if (why.code == ERR_INVALID && bad.len)
			return set_aside(job, bad, &why, err);
		*err = why;
		return false;
	}
	make_rows(job);
	if (!replace_rows(job, err))
		return false;
	book(job);
	return true;
}

/* A day that nobody has made yet; made apart, as it would make others wait in a transaction. */
static bool make_days(struct job *job, struct err *err)
{
	bool made;

	for (size_t i = 0; i < job->merge.hours.len; i++)
		if (!partition_make(&job->compactor->pg, PARTITION_CHUNK,
				    job->merge.hours.items[i].start_ms, &made, err))
			return false;
	return true;
}

bool store_compact(struct store_compactor *compactor, bool *ret_found, struct err *err)
{
	struct job job = { .compactor = compactor };
	struct postgres *pg = &compactor->pg;
	struct err later;

	*ret_found = false;
	pg->sqlstate[0] = '\0';
	if (!connect(compactor, err))
		return false;

	bool good = run(&job, ret_found, err);

	if (!good) {
		bool lacks_day = postgres_failed_with(pg, SQLSTATE_NO_PARTITION);

		if (postgres_is_open(pg) && !postgres_exec(pg, "ROLLBACK", &later))
			store_compactor_close(compactor);
		/* Found again, it will go through. */
		if (lacks_day && postgres_is_open(pg))
			good = make_days(&job, err);
	}
	arena_free(&job.arena);
	return good || err_wrap(err, "merge rows");
}
