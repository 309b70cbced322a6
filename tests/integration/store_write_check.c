// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "store/compact/compact.h"
#include "store/limits.h"
#include "store/maintenance/partition.h"
#include "store_check.h"

#include <inttypes.h>
#include <pthread.h>

static int64_t sum(const struct sample_set *set)
{
	uint64_t total = 0;

	for (size_t i = 0; i < set->samples.len; i++)
		total += (uint64_t)set->samples.items[i].value;
	return (int64_t)total;
}

static void a_partition_owned_by_another_is_lost_and_the_others_are_stored(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer owner, zombie;
	struct sample_set set, got;
	struct store_flush result;
	struct store_offset offsets[2] = { { .partition = 5 }, { .partition = 6 } };
	struct random_options options = options_at(now_ms() - MINUTE_MS, 3);
	struct err err;

	(void)state;
	open_writer(&owner);
	open_writer(&zombie);
	sample_set_init(&set, &arena);
	random_set_fill(&set, &options);

	struct store_flush_part first = part_from(5, -1, 100, &set);

	flush(&owner, &first, 1, &result);
	assert_false(first.lost);

	struct store_flush_part parts[] = { part_from(5, -1, 100, &set),
					    part_from(6, -1, 7, &set) };

	flush(&zombie, parts, 2, &result);
	assert_true(parts[0].lost);
	assert_false(parts[1].lost);
	assert_int_equal(zombie.fences_lost, 1);
	assert_int_equal(result.samples, 4000);

	struct store_flush_part stale = part_from(5, 40, 41, &set);

	flush(&zombie, &stale, 1, &result);
	assert_true(stale.lost);
	assert_int_equal(result.samples, 0);

	assert_good(store_writer_offsets(&owner, offsets, 2, &arena, &err), err);
	assert_int_equal(offsets[0].next, 100);
	assert_int_equal(offsets[1].next, 7);
	assert_true(str_eq(offsets[1].last_key, STR("key")));
	assert_int_equal(offsets[1].last_timestamp_ms, 5);
	read_samples("{}", 0, UINT64_MAX, &got, &arena, NULL);
	assert_int_equal(got.samples.len, 8000);
	assert_true(sum(&got) == (int64_t)(2 * (uint64_t)sum(&set)));
	store_writer_close(&owner);
	store_writer_close(&zombie);
}

static void a_host_whose_row_changed_loses_every_part_that_references_it(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_flush result;
	struct store_host mine = { .host = STR("n/1"), .epoch = 17 }, other = mine;
	struct store_host *const hosts[] = { &mine }, *const others[] = { &other };
	struct err err;

	(void)state;
	open_writer(&writer);
	assert_good(store_writer_host(&writer, &mine, &arena, &err), err);
	assert_int_equal(mine.revision, 0);
	assert_int_equal(received_set_add(&mine.seen, 1, &arena), RECEIVED_NEW);
	assert_int_equal(received_set_add(&mine.seen, 5, &arena), RECEIVED_NEW);
	mine.status = STR("status\xff");
	mine.node = STR("n");
	mine.sampled = 11;
	mine.stored = 10;
	mine.last_seen_ms = UINT64_C(1790000000123);

	struct store_flush_part part = part_from(0, -1, 1, NULL);

	part.hosts = hosts;
	part.host_count = 1;
	flush(&writer, &part, 1, &result);
	assert_false(part.lost);
	assert_int_equal(mine.revision, 1);

	assert_good(store_writer_host(&writer, &other, &arena, &err), err);
	assert_int_equal(other.revision, 1);
	assert_int_equal(other.seen.highest, 5);
	assert_int_equal(received_set_missing(&other.seen), 3);
	assert_true(str_eq(other.status, mine.status) && other.sampled == 11 && other.stored == 10);
	assert_true(other.last_seen_ms == mine.last_seen_ms);

	/* Another ingester updates the row; our revision is out of date. */
	struct store_flush_part theirs = part_from(1, -1, 1, NULL), parts[2];

	theirs.hosts = others;
	theirs.host_count = 1;
	flush(&writer, &theirs, 1, &result);
	assert_false(theirs.lost);
	parts[0] = part_from(0, 1, 2, NULL);
	parts[0].hosts = hosts;
	parts[0].host_count = 1;
	parts[1] = part_from(2, -1, 9, NULL);
	flush(&writer, parts, 2, &result);
	assert_true(parts[0].lost);
	assert_false(parts[1].lost);

	/* A row that was read and then deleted has changed as well. */
	struct store_host scratch = { .host = STR("scratch"), .epoch = 1, .revision = 4 };
	struct store_host *const gones[] = { &scratch };

	parts[0] = part_from(0, 1, 2, NULL);
	parts[0].hosts = gones;
	parts[0].host_count = 1;
	flush(&writer, parts, 1, &result);
	assert_true(parts[0].lost);
	store_writer_close(&writer);
}

/* Two ingesters repeatedly store the same series at the same time. */
static void *write_many(void *self)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	int32_t partition = *(const int32_t *)self;

	open_writer(&writer);
	for (int64_t i = 0; i < 15; i++) {
		struct random_options options = options_at(now_ms() - MINUTE_MS, (uint64_t)i + 1);
		struct sample_set set;
		struct store_flush result;
		struct store_flush_part part = part_from(partition, i ? i : -1, i + 1, &set);

		sample_set_init(&set, &arena);
		random_set_fill(&set, &options);
		flush(&writer, &part, 1, &result);
		assert_false(part.lost);
	}
	store_writer_close(&writer);
	return NULL;
}

static void two_writers_of_the_same_series_do_not_block_each_other(void **state)
{
	AUTO_ARENA arena = { 0 };
	int32_t partitions[] = { 1, 2 };
	struct sample_set got;
	pthread_t threads[2];

	(void)state;
	for (size_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, write_many, &partitions[i]);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	read_samples("{}", 0, UINT64_MAX, &got, &arena, NULL);
	assert_int_equal(got.samples.len, 2 * 15 * 4000);
}

static void query_i64(struct postgres *pg, const char *sql, int64_t *ret_value)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct err err;

	assert_good(postgres_query(pg, sql, NULL, 0, &rows, &err), err);
	*ret_value = postgres_get_i64(&rows, 0, 0);
}

static void drops_partitions_past_their_retention_only(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_maintenance maintenance;
	struct store_flush result;
	struct sample_set set;
	uint64_t now = now_ms();
	struct random_options options = options_at(now - 6 * DAY_MS, 2);
	int64_t count;
	bool made;
	struct err err;

	(void)state;
	open_writer(&writer);
	init_maintenance(&maintenance);
	assert_good(partition_make(&writer.pg, PARTITION_CHUNK_RAW, now - 9 * DAY_MS, &made, &err),
		    err);
	assert_true(made);
	assert_good(partition_make(&writer.pg, PARTITION_CHUNK_RAW, now - 9 * DAY_MS, &made, &err),
		    err);
	assert_false(made);
	assert_good(partition_make(&writer.pg, PARTITION_SERIES, now - 9 * DAY_MS, &made, &err),
		    err);
	assert_good(partition_make(&writer.pg, PARTITION_SERIES, now - 12 * DAY_MS, &made, &err),
		    err);

	/* A late sample of the older day is still there, so its series must stay. */
	str late = str_format(&arena,
			      "INSERT INTO chunk_raw VALUES (now(), 0, %" PRIu64 ", %" PRIu64
			      ", true, 1, '', '')%c",
			      now - 12 * DAY_MS, now - 12 * DAY_MS, '\0');

	assert_good(store_maintenance_run(&maintenance, &err), err);
	assert_int_equal(maintenance.partitions_dropped, 3);
	assert_good(partition_make(&writer.pg, PARTITION_SERIES, now - 12 * DAY_MS, &made, &err),
		    err);
	assert_good(postgres_exec(&writer.pg, late.ptr, &err), err);
	assert_good(store_maintenance_run(&maintenance, &err), err);
	assert_int_equal(maintenance.partitions_dropped, 3);

	sample_set_init(&set, &arena);
	random_set_fill(&set, &options);

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	assert_good(store_maintenance_run(&maintenance, &err), err);
	query_i64(&writer.pg, "SELECT sum(samples) FROM chunk_raw", &count);
	assert_int_equal(count, 4001);
	query_i64(&writer.pg,
		  "SELECT count(*) FROM pg_inherits WHERE inhparent = 'chunk_raw'::regclass",
		  &count);
	assert_int_equal(count, 2);
	store_writer_close(&writer);
}

static void deletes_hosts_that_send_nothing_any_more(void **state)
{
	struct store_writer writer;
	struct store_maintenance maintenance;
	struct store_flush result;
	struct store_host old = { .host = STR("old"), .epoch = 1 };
	struct store_host young = { .host = STR("young"), .epoch = 1 };
	struct store_host *const hosts[] = { &old, &young };
	struct store_flush_part part = part_from(0, -1, 1, NULL);
	int64_t count;
	struct err err;

	(void)state;
	open_writer(&writer);
	init_maintenance(&maintenance);
	part.hosts = hosts;
	part.host_count = 2;
	flush(&writer, &part, 1, &result);
	assert_good(postgres_exec(&writer.pg,
				  "UPDATE agent_status SET received_at = now() - interval '9 days'",
				  &err),
		    err);

	/* A host that sends again is young again. */
	part = part_from(0, 1, 2, NULL);
	part.hosts = &hosts[1];
	part.host_count = 1;
	flush(&writer, &part, 1, &result);
	assert_false(part.lost);
	assert_good(store_maintenance_run(&maintenance, &err), err);
	query_i64(&writer.pg, "SELECT count(*) FROM agent_status WHERE host = 'young'", &count);
	assert_int_equal(count, 1);
	query_i64(&writer.pg, "SELECT count(*) FROM agent_status", &count);
	assert_int_equal(count, 1);

	/* A writer that still relies on the deleted row loses its part. */
	part = part_from(0, 2, 3, NULL);
	part.hosts = hosts;
	part.host_count = 1;
	flush(&writer, &part, 1, &result);
	assert_true(part.lost);
	store_writer_close(&writer);
}

static void an_interrupted_detach_is_finalized_later(void **state)
{
	struct store_writer writer;
	struct store_maintenance maintenance;
	struct postgres other;
	const struct postgres_options options = { .conninfo = postgres() };
	int64_t count;
	bool made;
	struct err err;

	(void)state;
	open_writer(&writer);
	init_maintenance(&maintenance);
	assert_good(postgres_open(&other, &options, &err), err);
	assert_good(
		partition_make(&writer.pg, PARTITION_CHUNK_RAW, now_ms() - 9 * DAY_MS, &made, &err),
		err);

	/* An open transaction that has read the table blocks the detach. */
	assert_good(postgres_exec(&other, "BEGIN; SELECT count(*) FROM chunk_raw", &err), err);
	assert_good(store_maintenance_run(&maintenance, &err), err);
	assert_int_equal(maintenance.partitions_dropped, 0);
	query_i64(&writer.pg, "SELECT count(*) FROM pg_inherits WHERE inhdetachpending", &count);
	assert_int_equal(count, 1);
	assert_good(postgres_exec(&other, "COMMIT", &err), err);
	assert_good(store_maintenance_run(&maintenance, &err), err);
	assert_int_equal(maintenance.partitions_dropped, 1);
	postgres_close(&other);
	store_writer_close(&writer);
}

/* The names of the partitions of chunk_raw begin with those of chunk. */
static void a_half_detached_raw_partition_does_not_keep_partitions_of_chunk(void **state)
{
	struct store_writer writer;
	struct store_maintenance maintenance;
	struct postgres other;
	const struct postgres_options options = { .conninfo = postgres() };
	int64_t count;
	bool made;
	struct err err;

	(void)state;
	open_writer(&writer);
	init_maintenance(&maintenance);
	assert_good(postgres_open(&other, &options, &err), err);
	assert_good(partition_make(&writer.pg, PARTITION_CHUNK_RAW, now_ms() - 10 * DAY_MS, &made,
				   &err),
		    err);
	assert_good(
		partition_make(&writer.pg, PARTITION_CHUNK, now_ms() - 10 * DAY_MS, &made, &err),
		err);
	assert_good(postgres_exec(&other, "BEGIN; SELECT count(*) FROM chunk_raw", &err), err);

	assert_good(store_maintenance_run(&maintenance, &err), err);

	query_i64(&writer.pg,
		  "SELECT count(*) FROM pg_inherits WHERE inhdetachpending "
		  "AND inhparent = 'chunk_raw'::regclass",
		  &count);
	assert_int_equal(count, 1);
	assert_int_equal(maintenance.partitions_dropped, 1);
	postgres_close(&other);
	store_writer_close(&writer);
}

/* The loop of the ingester waits after a failure; a result "found" would make it continue. */
static void a_failing_compaction_finds_no_rows(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct random_options options = options_at(now_ms() - DAY_MS, 1);
	struct store_compactor compactor;
	struct store_writer writer;
	struct store_flush result;
	struct sample_set set;
	bool found = false;
	struct err err;

	(void)state;
	open_writer(&writer);
	sample_set_init(&set, &arena);
	random_set_fill(&set, &options);

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	assert_good(postgres_exec(&writer.pg,
				  "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
				  "'BEGIN RAISE EXCEPTION ''no space''; END';"
				  "CREATE TRIGGER fail BEFORE UPDATE ON chunk_raw "
				  "FOR EACH ROW EXECUTE FUNCTION fail()",
				  &err),
		    err);
	store_compactor_init(&compactor,
			     &(struct store_compactor_options){ .postgres = postgres() });

	assert_false(store_compact(&compactor, &found, &err));

	assert_false(found);
	assert_good(postgres_exec(&writer.pg, "DROP TRIGGER fail ON chunk_raw", &err), err);
	assert_good(store_compact(&compactor, &found, &err), err);
	assert_true(found);
	store_compactor_close(&compactor);
	store_writer_close(&writer);
}

/* A writer that was suspended for an hour adds a row with that hour's arrival. */
static void rows_added_while_a_partition_is_detached_are_kept(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_maintenance maintenance;
	struct postgres other;
	const struct postgres_options options = { .conninfo = postgres() };
	uint64_t hour_ms = now_ms() - 3 * HOUR_MS;
	str row = str_format(&arena,
			     "BEGIN; INSERT INTO chunk_raw VALUES (to_timestamp(%" PRIu64
			     "), 0, 1, 1, false, 1, '', '')%c",
			     hour_ms / 1000, '\0');
	int64_t count;
	bool made;
	struct err err;

	(void)state;
	open_writer(&writer);
	init_maintenance(&maintenance);
	assert_good(postgres_open(&other, &options, &err), err);
	assert_good(partition_make(&writer.pg, PARTITION_CHUNK_RAW, hour_ms, &made, &err), err);
	assert_good(postgres_exec(&other, row.ptr, &err), err);

	/* The partition looks empty. */
	assert_good(store_maintenance_run(&maintenance, &err), err);
	query_i64(&writer.pg, "SELECT count(*) FROM pg_inherits WHERE inhdetachpending", &count);
	assert_int_equal(count, 1);
	assert_good(postgres_exec(&other, "COMMIT", &err), err);
	assert_good(store_maintenance_run(&maintenance, &err), err);

	query_i64(&writer.pg, "SELECT count(*) FROM pg_inherits WHERE inhdetachpending", &count);
	assert_int_equal(count, 0);
	query_i64(&writer.pg, "SELECT sum(samples) FROM chunk_raw", &count);
	assert_int_equal(count, 1);
	assert_int_equal(maintenance.partitions_dropped, 0);
	postgres_close(&other);
	store_writer_close(&writer);
}

/* As on a machine that lost the time. */
static void a_clock_that_is_ahead_drops_nothing(void **state)
{
	struct store_writer writer;
	struct store_maintenance maintenance;
	struct sample_set set;
	struct store_flush result;
	AUTO_ARENA arena = { 0 };
	struct random_options options = options_at(now_ms() - DAY_MS, 1);
	int64_t count;
	struct err err;

	(void)state;
	open_writer(&writer);
	init_maintenance(&maintenance);
	sample_set_init(&set, &arena);
	random_set_fill(&set, &options);

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	assert_good(postgres_exec(&writer.pg, "UPDATE chunk_raw SET merged = now()", &err), err);
	maintenance.options.now_ms = now_ms() + 400 * DAY_MS;

	assert_good(store_maintenance_run(&maintenance, &err), err);

	assert_int_equal(maintenance.partitions_dropped, 0);
	query_i64(&writer.pg, "SELECT sum(samples) FROM chunk_raw", &count);
	assert_int_equal(count, 4000);
	store_writer_close(&writer);
}

static void continues_after_the_connection_was_lost(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer, killer;
	struct store_flush result;
	struct sample_set set, got;
	struct random_options options = options_at(now_ms() - MINUTE_MS, 2);
	struct err err;

	(void)state;
	open_writer(&writer);
	open_writer(&killer);
	sample_set_init(&set, &arena);
	random_set_fill(&set, &options);
	assert_good(postgres_exec(&killer.pg,
				  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
				  "WHERE datname = current_database() AND pid <> pg_backend_pid()",
				  &err),
		    err);

	struct store_flush_part part = part_from(0, -1, 1, &set);

	/* If the loss is noticed before anything is sent, a new connection is opened at once. */
	if (!store_writer_flush(&writer, &part, 1, &result, &err)) {
		assert_int_equal(err.code, ERR_IO);
		assert_false(part.lost);
		flush(&writer, &part, 1, &result);
	}
	assert_false(part.lost);
	read_samples("{}", 0, UINT64_MAX, &got, &arena, NULL);
	assert_int_equal(got.samples.len, 4000);
	store_writer_close(&writer);
	store_writer_close(&killer);
}

/* Each of two samples fits into a row, but not both: its name is as long as a row may be. */
static void samples_too_large_for_one_row_become_two(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_flush result;
	struct sample_set set, got;
	str name = { arena_array(&arena, char, ROW_RAW_MAX), ROW_RAW_MAX };

	(void)state;
	sample_set_init(&set, &arena);
	for (uint64_t i = 0; i < 2; i++) {
		uint32_t frame = sample_set_frame(
			&set,
			&(struct frame){ .type = STR("native"), .address = i, .function = name });

		sample_set_add(&set,
			       (struct sample){
				       .series = sample_set_series(&set, STR(PROFILE_TYPE_CPU),
								   (struct labels){ 0 }, 1),
				       .stack = sample_set_stack(&set, &frame, 1),
				       .labels = sample_set_labels(&set, (struct labels){ 0 }),
				       .value = 1,
				       .time_ms = now_ms() - MINUTE_MS + i,
			       });
	}
	open_writer(&writer);

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	assert_int_equal(result.rows, 2);
	assert_int_equal(result.samples, 2);
	read_samples("{}", 0, UINT64_MAX, &got, &arena, NULL);
	assert_int_equal(got.samples.len, 2);
	store_writer_close(&writer);
}

/* A trigger records the setting while the tables are created. */
static void the_schema_is_committed_to_disk_though_samples_are_not(void **state)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct postgres pg;
	struct store_writer writer;
	struct err err;

	(void)state;
	assert_good(postgres_open(&pg, &(struct postgres_options){ .conninfo = postgres() }, &err),
		    err);
	assert_good(
		postgres_exec(&pg,
			      "CREATE TABLE waits (setting text);"
			      "CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS "
			      "'BEGIN INSERT INTO waits VALUES "
			      "(current_setting(''synchronous_commit'')); END';"
			      "CREATE EVENT TRIGGER note ON ddl_command_start "
			      "WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION note()",
			      &err),
		err);
	open_writer(&writer);
	assert_good(postgres_query(&pg, "SELECT DISTINCT setting FROM waits", NULL, 0, &rows, &err),
		    err);
	assert_int_equal(rows.count, 1);
	assert_true(str_eq(postgres_get(&rows, 0, 0), STR("on")));
	store_writer_close(&writer);
	postgres_close(&pg);
}

const struct CMUnitTest write_tests[] = {
	TEST(a_partition_owned_by_another_is_lost_and_the_others_are_stored),
	TEST(a_host_whose_row_changed_loses_every_part_that_references_it),
	TEST(two_writers_of_the_same_series_do_not_block_each_other),
	TEST(drops_partitions_past_their_retention_only),
	TEST(deletes_hosts_that_send_nothing_any_more),
	TEST(an_interrupted_detach_is_finalized_later),
	TEST(a_half_detached_raw_partition_does_not_keep_partitions_of_chunk),
	TEST(a_failing_compaction_finds_no_rows),
	TEST(rows_added_while_a_partition_is_detached_are_kept),
	TEST(a_clock_that_is_ahead_drops_nothing),
	TEST(continues_after_the_connection_was_lost),
	TEST(samples_too_large_for_one_row_become_two),
	TEST(the_schema_is_committed_to_disk_though_samples_are_not),
};
const size_t write_test_count = ARRAY_LEN(write_tests);
