// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/log.h"
#include "store/chunk/chunk_rows.h"
#include "store/compact/compact_job_internal.h"
#include "store/limits.h"
#include "store/write/raw_row.h"

#define SQLSTATE_NO_PARTITION "23514"

/* zstd's levels: coalesced rows are soon rewritten, chunks are kept. */
enum { COALESCED_LEVEL = 1, CHUNK_LEVEL = 6, COLUMNS = 7, ROLLUP_COLUMNS = 8 };

static bool find(struct compact_job *job, uint64_t old_ms, bool *ret_found, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	uint64_t over_ms = old_ms - job->kind->wait_ms;
	uint64_t whole_ms = over_ms - over_ms % job->kind->whole_ms;
	struct postgres_param before = postgres_i64(&job->arena, (int64_t)whole_ms);

	if (!postgres_query(&job->compactor->pg, job->kind->find, &before, 1, &rows, err))
		return false;
	*ret_found = rows.count > 0;
	if (!*ret_found)
		return true;
	job->partition = str_copy(&job->arena, postgres_get(&rows, 0, 0));
	job->bucket = (int32_t)postgres_get_i64(&rows, 0, 1);
	job->start_ms = (uint64_t)postgres_get_i64(&rows, 0, 2);
	job->end_ms = (uint64_t)postgres_get_i64(&rows, 0, 3);
	return true;
}

/* Locks as many rows as should fit into memory; the others are left for another job. */
static bool claim(struct compact_job *job, struct err *err)
{
	_Static_assert(COMPACT_ROWS_MAX == 1024, "as in the SQL below");
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		postgres_i64(&job->arena, job->bucket),
		postgres_i64(&job->arena, (int64_t)job->start_ms),
		postgres_i64(&job->arena, (int64_t)job->end_ms),
	};
	str sql = str_format(
		&job->arena,
		"SELECT ctid, samples, octet_length(payload), (%s)::integer "
		"FROM " STR_FMT " WHERE %s IS NULL AND NOT unreadable AND bucket = $1::bigint "
		"AND first_ms >= $2 AND first_ms < $3%s "
		"ORDER BY first_ms LIMIT 1024 FOR UPDATE SKIP LOCKED%c",
		job->kind->fresh, STR_ARG(job->partition), job->kind->mark, job->kind->only, '\0');
	uint64_t samples = 0, bytes = 0;

	if (!postgres_query(&job->compactor->pg, sql.ptr, params, ARRAY_LEN(params), &rows, err))
		return false;
	for (size_t i = 0; i < rows.count; i++) {
		struct row_location location = {
			.ctid = str_copy(&job->arena, postgres_get(&rows, i, 0)),
			.bytes = (uint64_t)postgres_get_i64(&rows, i, 2),
		};

		samples += (uint64_t)postgres_get_i64(&rows, i, 1);
		bytes += location.bytes;
		if (i > 0 && (samples > job->kind->samples_max || bytes > job->kind->bytes_max))
			break;
		job->fresh += (uint64_t)postgres_get_i64(&rows, i, 3);
		*vec_push(&job->arena, &job->claimed) = location;
	}
	return true;
}

/* ERR_INVALID: the row is corrupt; ret_bad is its ctid. */
static bool read_row(struct compact_job *job, const struct postgres_rows *rows, size_t i,
		     str *ret_bad, struct err *err)
{
	const struct compact_row row = {
		.first_ms = (uint64_t)postgres_get_i64(rows, i, 0),
		.last_ms = (uint64_t)postgres_get_i64(rows, i, 1),
		.samples = (uint64_t)postgres_get_i64(rows, i, 2),
		.payload = postgres_get(rows, i, 3),
	};
	str location = str_copy(&job->arena, postgres_get(rows, i, 4));

	if (!job->kind->add(job, &row, err)) {
		*ret_bad = location;
		return false;
	}
	*vec_push(&job->arena, &job->locations) = location;
	job->counts.rows++;
	job->counts.bytes += row.payload.len;
	job->counts.samples += row.samples;
	return true;
}

static bool read_batch(struct compact_job *job, const struct row_location *locations, size_t count,
		       str *ret_bad, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	str *ctids = arena_array(&job->arena, str, count);
	str sql = str_format(&job->arena,
			     "SELECT first_ms, last_ms, samples, payload, ctid FROM " STR_FMT
			     " WHERE ctid = ANY ($1) ORDER BY first_ms%c",
			     STR_ARG(job->partition), '\0');

	for (size_t i = 0; i < count; i++)
		ctids[i] = locations[i].ctid;

	struct postgres_param param = postgres_tids(&job->arena, ctids, count);

	if (!postgres_query(&job->compactor->pg, sql.ptr, &param, 1, &rows, err))
		return false;
	if (rows.count != count)
		return err_set(err, ERR_IO, "%zu of %zu locked rows have disappeared",
			       count - rows.count, count);
	for (size_t i = 0; i < rows.count && job->arena.size < COMPACT_MEMORY_MAX; i++)
		if (!read_row(job, &rows, i, ret_bad, err))
			return false;
	return true;
}

/* Reads claimed rows in batches until the memory limit; the others stay unchanged. */
static bool read_rows(struct compact_job *job, str *ret_bad, struct err *err)
{
	const struct row_location *locations = job->claimed.items;

	job->kind->begin(job);
	job->counts = (struct compact_counts){ 0 };
	for (size_t at = 0, end; at < job->claimed.len; at = end) {
		uint64_t bytes = locations[at].bytes;

		if (job->arena.size >= COMPACT_MEMORY_MAX)
			break;
		for (end = at + 1; end < job->claimed.len; end++) {
			bytes += locations[end].bytes;
			if (bytes > COMPACT_BYTES_MAX)
				break;
		}
		if (!read_batch(job, &locations[at], end - at, ret_bad, err))
			return false;
	}
	return true;
}

static void put_row(void *self, const struct chunk_row *row)
{
	struct compact_job *job = self;
	uint64_t day = row->first_ms / MS_PER_DAY;
	bool is_rollup = job->kind->to == PARTITION_ROLLUP;

	*vec_push(&job->arena, &job->days) = day;
	postgres_copy_row(&job->copy, is_rollup ? ROLLUP_COLUMNS : COLUMNS);
	postgres_copy_date(&job->copy, (int64_t)day);
	postgres_copy_i32(&job->copy, job->bucket);
	postgres_copy_i64(&job->copy, (int64_t)row->first_ms);
	postgres_copy_i64(&job->copy, (int64_t)row->last_ms);
	postgres_copy_i32(&job->copy, (int32_t)row->set->samples.len);
	postgres_copy_bytes(&job->copy, row->directory);
	postgres_copy_bytes(&job->copy, row->payload);
	if (is_rollup)
		postgres_copy_i32(&job->copy, (int32_t)job->rollup);
	job->counts.made++;
	job->counts.made_bytes += row->payload.len;
}

void compact_job_put(struct compact_job *job, struct sample_set *set, enum rollup_kind rollup)
{
	AUTO_ARENA scratch = { 0 };

	job->rollup = rollup;
	chunk_rows_make(set, CHUNK_LEVEL, &scratch, &(struct chunk_row_sink){ put_row, job });
}

bool compact_job_may_coalesce(const struct compact_job *job, uint64_t hour_ms)
{
	uint64_t arrival_ms;

	return job->kind->from == PARTITION_CHUNK_RAW && job->fresh > 0 &&
	       job->locations.len == job->claimed.len &&
	       job->counts.samples < COMPACT_FEW_SAMPLES && job->now_ms < hour_ms + MS_PER_HOUR &&
	       partition_name_parse(PARTITION_CHUNK_RAW, job->partition, &arrival_ms) &&
	       job->now_ms >= arrival_ms && job->now_ms < arrival_ms + MS_PER_HOUR;
}

static void put_coalesced(void *self, const struct chunk_row *row)
{
	struct compact_job *job = self;
	const struct raw_row raw = { job->now_ms, job->bucket, .joined = true };

	(void)raw_row_copy(&raw, row, &job->coalesced);
	job->counts.coalesced++;
	job->counts.coalesced_samples += row->set->samples.len;
}

void compact_job_coalesce(struct compact_job *job, struct sample_set *set)
{
	AUTO_ARENA scratch = { 0 };

	chunk_rows_make(set, COALESCED_LEVEL, &scratch,
			&(struct chunk_row_sink){ put_coalesced, job });
}

static bool mark(struct compact_job *job, str what, const str *locations, size_t count,
		 struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	str sql = str_format(&job->arena,
			     "UPDATE " STR_FMT " SET " STR_FMT " WHERE ctid = ANY ($1) "
			     "AND %s IS NULL AND NOT unreadable%c",
			     STR_ARG(job->partition), STR_ARG(what), job->kind->mark, '\0');
	struct postgres_param param = postgres_tids(&job->arena, locations, count);

	if (!postgres_query(&job->compactor->pg, sql.ptr, &param, 1, &rows, err))
		return false;
	return postgres_affected(&rows) == count ||
	       err_set(err, ERR_IO, "%zu rows should have been marked, %zu were", count,
		       (size_t)postgres_affected(&rows));
}

static bool replace(struct compact_job *job, struct err *err)
{
	struct postgres *pg = &job->compactor->pg;
	str what = str_format(&job->arena, "%s = now()%s", job->kind->mark, job->kind->set);
	str copy = str_format(&job->arena,
			      "COPY %s (day, bucket, first_ms, last_ms, samples, directory, "
			      "payload%s) FROM STDIN (FORMAT binary)%c",
			      partition_tables[job->kind->to].name,
			      job->kind->to == PARTITION_ROLLUP ? ", kind" : "", '\0');

	failpoint(&failpoint_before_compaction);
	job->copy.arena = job->coalesced.arena = &job->arena;
	postgres_copy_begin(&job->copy);
	postgres_copy_begin(&job->coalesced);
	if (!job->kind->make(job, err))
		return false;
	postgres_copy_end(&job->copy);
	postgres_copy_end(&job->coalesced);
	if (!mark(job, what, job->locations.items, job->locations.len, err) ||
	    (job->counts.made && !postgres_copy(pg, copy.ptr, buf_bytes(&job->copy), err)) ||
	    (job->counts.coalesced &&
	     !postgres_copy(pg, RAW_ROW_COPY, buf_bytes(&job->coalesced), err)))
		return false;
	failpoint(job->kind->before_commit);
	if (!postgres_exec(pg, "COMMIT", err))
		return false;
	failpoint(&failpoint_after_compaction);
	return true;
}

/* Logs the corrupt row once. Queries that need it report it each time. */
static bool mark_unreadable(struct compact_job *job, str location, const struct err *why,
			    struct err *err)
{
	log_warn("a row is corrupt and is left unchanged",
		 "table=" STR_FMT " bucket=%d error=\"%s\"", STR_ARG(job->partition),
		 (int)job->bucket, why->msg);
	if (!postgres_exec(&job->compactor->pg, "ROLLBACK; BEGIN", err) ||
	    !mark(job, STR("unreadable = true"), &location, 1, err) ||
	    !postgres_exec(&job->compactor->pg, "COMMIT", err))
		return false;
	job->compactor->unreadable++;
	job->counts = (struct compact_counts){ 0 };
	return true;
}

static bool run(struct compact_job *job, uint64_t old_ms, bool *ret_found, struct err *err)
{
	struct postgres *pg = &job->compactor->pg;
	struct err why;
	str bad = { 0 };

	if (!postgres_exec(pg, "BEGIN", err) || !find(job, old_ms, ret_found, err))
		return false;
	if (!*ret_found)
		return postgres_exec(pg, "COMMIT", err);
	if (!claim(job, err))
		return false;
	if (read_rows(job, &bad, &why))
		return replace(job, err);
	if (why.code == ERR_INVALID && bad.len)
		return mark_unreadable(job, bad, &why, err);
	*err = why;
	return false;
}

/* Creates missing partitions outside the job's transaction, which would make others wait. */
static bool make_days(struct compact_job *job, struct err *err)
{
	bool made;

	for (size_t i = 0; i < job->days.len; i++)
		if (!partition_make(&job->compactor->pg, job->kind->to,
				    job->days.items[i] * MS_PER_DAY, &made, err))
			return false;
	return true;
}

bool compact_job_run(const struct compact_kind *kind, struct store_compactor *compactor,
		     uint64_t old_ms, struct compact_counts *counts, bool *ret_found,
		     struct err *err)
{
	struct compact_job job = {
		.kind = kind,
		.compactor = compactor,
		.now_ms = clock_unix_ns() / NS_PER_MS,
	};
	struct postgres *pg = &compactor->pg;
	struct err later;

	pg->sqlstate[0] = '\0';

	bool good = run(&job, old_ms, ret_found, err);

	if (good && *ret_found) {
		counts->rows += job.counts.rows;
		counts->bytes += job.counts.bytes;
		counts->samples += job.counts.samples;
		counts->made += job.counts.made;
		counts->made_bytes += job.counts.made_bytes;
		counts->coalesced += job.counts.coalesced;
		counts->coalesced_samples += job.counts.coalesced_samples;
	}
	if (!good) {
		bool lacks_day = postgres_failed_with(pg, SQLSTATE_NO_PARTITION);

		if (postgres_is_open(pg) && !postgres_exec(pg, "ROLLBACK", &later))
			postgres_close(pg);
		/* The next run finds the same rows, and the partition. */
		if (lacks_day && postgres_is_open(pg))
			good = make_days(&job, err);
	}
	arena_free(&job.arena);
	return good;
}
