// SPDX-License-Identifier: Apache-2.0
#include "store/write/writer.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/failpoints.h"
#include "store/limits.h"
#include "store/maintenance/partition.h"
#include "store/maintenance/schema.h"
#include "store/maintenance/stuck_writers.h"
#include "store/write/raw_row.h"
#include "store/write/writer_fence_internal.h"
#include "store/write/writer_rows_internal.h"
#include "store/write/writer_series_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { PARTITION_TRIES = 3, SESSION_DEFAULT_MS = 10000 };

#define SQLSTATE_NO_PARTITION "23514" /* not an error of the data */
#define SQLSTATE_LOCK_TIMEOUT "55P03"

static void clear_caches(struct store_writer *writer)
{
	seen_ids_clear(&writer->seen_ids);
	arena_reset(&writer->names);
	writer->partitions = (struct map){ .arena = &writer->names };
}

/* The database may have been replaced since the last connection, by an empty one or by a backup
 * that is older than this program. */
static bool complete_schema(struct postgres *pg, struct err *err)
{
	if (schema_check(pg, err))
		return true;
	return err->code == ERR_NOT_FOUND && schema_apply(pg, err);
}

/*
 * Commits do not wait for the disk and may be lost after a crash: a new connection starts with
 * empty caches.
 *
 * A transaction is idle for milliseconds only, unless this process is stopped. Other ingesters then
 * wait for its locks, so the session timeout matches the time after which Kafka reassigns the
 * partitions. An ingester that waits longer than lock_timeout checks for stuck writers
 * (stuck_writers.h).
 */
bool store_writer_connect(struct store_writer *writer, struct err *err)
{
	uint64_t session_ms = writer->options.session_ms;
	char settings[192];
	const struct postgres_options options = {
		.conninfo = writer->options.postgres,
		.application = "decima-ingester",
		.settings = settings,
		.cancel = writer->options.cancel,
	};

	if (postgres_is_alive(&writer->pg))
		return true;
	postgres_close(&writer->pg);
	clear_caches(writer);
	snprintf(settings, sizeof(settings),
		 "-c lock_timeout=5s -c synchronous_commit=%s -c statement_timeout=50s "
		 "-c idle_in_transaction_session_timeout=%" PRIu64,
		 writer->options.synchronous_commit ? "on" : "off",
		 session_ms ? session_ms : (uint64_t)SESSION_DEFAULT_MS);
	if (!postgres_open(&writer->pg, &options, err))
		return false;
	if (!complete_schema(&writer->pg, err)) {
		postgres_close(&writer->pg);
		return false;
	}
	writer->connections++;
	return true;
}

bool store_writer_open(struct store_writer *writer, const struct store_writer_options *options,
		       struct err *err)
{
	*writer = (struct store_writer){ .options = *options };
	seen_ids_init(&writer->seen_ids, (size_t)options->seen_ids_max);
	if (store_writer_connect(writer, err))
		return true;
	store_writer_close(writer);
	return false;
}

void store_writer_close(struct store_writer *writer)
{
	postgres_close(&writer->pg);
	seen_ids_done(&writer->seen_ids);
	arena_free(&writer->names);
}

bool store_writer_offsets(struct store_writer *writer, struct store_offset *offsets, size_t count,
			  struct arena *arena, struct err *err)
{
	static const char sql[] = "SELECT partition, next_offset, last_key, last_timestamp_ms "
				  "FROM consumer_offset WHERE topic = $1";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param topic = postgres_text(str_from(writer->options.topic));

	if (!store_writer_connect(writer, err) ||
	    !postgres_query(&writer->pg, sql, &topic, 1, &rows, err))
		return err_wrap(err, "read offsets");
	for (size_t i = 0; i < count; i++) {
		struct store_offset *offset = &offsets[i];

		*offset = (struct store_offset){ .partition = offset->partition,
						 .next = -1,
						 .last_timestamp_ms = -1 };
		for (size_t j = 0; j < rows.count; j++) {
			if (postgres_get_i64(&rows, j, 0) != offset->partition)
				continue;
			offset->next = postgres_get_i64(&rows, j, 1);
			offset->last_key = str_copy(arena, postgres_get(&rows, j, 2));
			if (postgres_get(&rows, j, 3).ptr)
				offset->last_timestamp_ms = postgres_get_i64(&rows, j, 3);
		}
	}
	return true;
}

static bool fill_host(const struct postgres_rows *rows, struct store_host *host,
		      struct arena *arena, struct err *err)
{
	enum { MISSING, STATUS, NODE, VERSION, HASHES, NUMBERS };
	uint64_t missing_revision = 0;
	uint64_t *const numbers[] = {
		&host->revision,
		&host->seen.highest,
		&host->seen.gap,
		&host->sampled,
		&host->lost,
		&host->truncated,
		&host->stored,
		&host->duplicate_batches,
		&host->rejected_batches,
		&host->skipped,
		&host->rejected_samples,
		&host->too_far_ahead,
		&host->conflict_batches,
		&host->conflict_samples,
		&host->transit.missing,
		&missing_revision,
		&host->last_seen_ms,
	};

	if (!received_set_missing_parse(postgres_get(rows, 0, MISSING), arena, &host->seen, err))
		return false;
	host->status = str_copy(arena, postgres_get(rows, 0, STATUS));
	host->node = str_copy(arena, postgres_get(rows, 0, NODE));
	host->version = str_copy(arena, postgres_get(rows, 0, VERSION));
	batch_hashes_read(&host->hashes, postgres_get(rows, 0, HASHES), arena);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		*numbers[i] = (uint64_t)postgres_get_i64(rows, 0, NUMBERS + i);
	host->has_transit = missing_revision == host->revision;
	return true;
}

bool store_writer_host(struct store_writer *writer, struct store_host *host, struct arena *arena,
		       struct err *err)
{
	static const char sql[] =
		"SELECT missing::text, status, node, version, batch_hashes, revision, highest, "
		"gap, sampled, "
		"lost,"
		" truncated, stored, duplicate_batches, rejected_batches, skipped, "
		"rejected_samples,"
		" too_far_ahead, conflict_batches, conflict_samples, missing_samples,"
		" missing_revision, (extract(epoch FROM "
		"last_seen) * 1000)::bigint "
		"FROM agent_status WHERE host = $1 AND epoch = $2";
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param params[] = {
		postgres_text(host->host),
		postgres_i64(arena, (int64_t)host->epoch),
	};

	if (!store_writer_connect(writer, err) ||
	    !postgres_query(&writer->pg, sql, params, ARRAY_LEN(params), &rows, err))
		return err_wrap(err, "read the state of a host");
	*host = (struct store_host){ .host = host->host, .epoch = host->epoch };
	return rows.count == 0 || fill_host(&rows, host, arena, err);
}

static bool need_partition(struct store_writer *writer, enum partition_table table,
			   uint64_t unix_ms, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str name = partition_name(table, unix_ms, &arena);
	bool made = false;

	if (map_get(&writer->partitions, name))
		return true;
	if (!partition_make(&writer->pg, table, unix_ms, &made, err))
		return false;
	if (made)
		log_info("partition made", "table=" STR_FMT, STR_ARG(name));
	writer->partitions_made += made;
	if (writer->partitions.len >= PARTITIONS_CACHED_MAX) {
		arena_reset(&writer->names);
		writer->partitions = (struct map){ .arena = &writer->names };
	}
	*map_at(&writer->partitions, str_copy(&writer->names, name)) = writer;
	return true;
}

static bool need_partitions(struct flush *flush, struct err *err)
{
	struct store_writer *writer = flush->writer;

	for (size_t i = 0; i < flush->hours.len; i++)
		if (!need_partition(writer, PARTITION_CHUNK_RAW, flush->hours.items[i], err))
			return false;
	for (size_t i = 0; i < flush->days.len; i++)
		if (!need_partition(writer, PARTITION_LABEL_PAIR, flush->days.items[i], err) ||
		    !need_partition(writer, PARTITION_SERIES, flush->days.items[i], err))
			return false;
	return true;
}

/*
 * The transaction of the flush. Offset rows are locked after the COPY, so that no ingester ever
 * waits for one that was stopped while it sent data.
 */
static bool transact(struct flush *flush, bool *ret_lost, struct err *err)
{
	struct postgres *pg = &flush->writer->pg;

	*ret_lost = false;
	if (!postgres_exec(pg, "BEGIN", err))
		return false;
	if (flush->result.rows && !postgres_copy(pg, RAW_ROW_COPY, buf_bytes(&flush->copy), err))
		return err_wrap(err, "store %" PRIu64 " rows of samples", flush->result.rows);
	failpoint(&failpoint_after_copy);
	if (!writer_fence_put_hosts(flush, ret_lost, err))
		return false;
	if (!*ret_lost && !writer_fence_put_offsets(flush, ret_lost, err))
		return false;
	if (*ret_lost)
		return postgres_exec(pg, "ROLLBACK", err);
	failpoint(&failpoint_after_fence);
	if (!postgres_exec(pg, "COMMIT", err))
		return false;
	failpoint(&failpoint_after_commit);
	return true;
}

static bool anything_left(const struct flush *flush)
{
	for (size_t i = 0; i < flush->part_count; i++)
		if (!flush->parts[i].lost)
			return true;
	return false;
}

/* Data exceptions, violated constraints, exceeded limits; but not a missing partition. */
static bool is_rejected(const struct postgres *pg)
{
	static const char *const classes[] = { "22", "23", "54" };

	if (postgres_failed_with(pg, SQLSTATE_NO_PARTITION))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(classes); i++)
		if (str_starts_with(str_from(pg->sqlstate), str_from(classes[i])))
			return true;
	return false;
}

/* One attempt. If a part was lost, all is rolled back, and the caller retries the other parts. */
static bool try_flush(struct flush *flush, bool *ret_lost, struct err *err)
{
	struct postgres *pg = &flush->writer->pg;
	char state[sizeof(pg->sqlstate)];
	struct err later;

	*ret_lost = false;
	pg->sqlstate[0] = '\0';
	if (!store_writer_connect(flush->writer, err))
		return false;
	writer_rows_make(flush);
	fence_groups_init(&flush->groups, flush->parts, flush->part_count, &flush->arena);
	if (!need_partitions(flush, err))
		return false;
	if (writer_series_put(flush, err) && transact(flush, ret_lost, err))
		return true;
	if (is_rejected(pg))
		err->code = ERR_INVALID;
	memcpy(state, pg->sqlstate, sizeof(state));
	/* Harmless if no transaction is open. */
	if (postgres_is_open(pg) && !postgres_exec(pg, "ROLLBACK", &later))
		postgres_close(pg);
	if (str_eq(str_from(state), str_from(SQLSTATE_LOCK_TIMEOUT)) && postgres_is_open(pg) &&
	    !stuck_writers_terminate(pg, &flush->writer->writers_terminated, &later))
		log_warn("cannot terminate stuck writers", "error=\"%s\"", later.msg);
	memcpy(pg->sqlstate, state, sizeof(state));
	return false;
}

bool store_writer_flush(struct store_writer *writer, struct store_flush_part *parts, size_t count,
			struct store_flush *ret_flush, struct err *err)
{
	unsigned int tries = 0;
	bool good = true, again = true;

	*ret_flush = (struct store_flush){ 0 };
	for (size_t i = 0; i < count; i++)
		parts[i].lost = false;
	while (again) {
		struct flush flush = { .writer = writer,
				       .parts = parts,
				       .part_count = count,
				       .now_ms = clock_unix_ns() / NS_PER_MS };
		bool lost = false;

		if (!anything_left(&flush))
			break;
		good = try_flush(&flush, &lost, err);
		again = lost ||
			(!good && postgres_failed_with(&writer->pg, SQLSTATE_NO_PARTITION) &&
			 tries++ < PARTITION_TRIES);
		if (again)
			clear_caches(writer);
		if (good && !lost) {
			for (size_t i = 0; i < flush.groups.host_count; i++)
				flush.groups.hosts[i].host->revision++;
			*ret_flush = flush.result;
		}
		arena_free(&flush.arena);
	}
	return good;
}
