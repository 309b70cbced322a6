/*
 * store_check - the writer and the reader against a real PostgreSQL.
 *
 * `store_check NAME` runs one test, in the empty database that DECIMA_POSTGRES says: test_store.py
 * does it for each. What the reader finds is compared with what a plain loop over the samples that
 * were written finds.
 */
#include "base/clock.h"
#include "profile/profile_type.h"
#include "random_set.h"
#include "store/partition.h"
#include "store/reader.h"
#include "store/writer.h"
#include "test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#define MINUTE_MS UINT64_C(60000)
#define HOUR_MS   (60 * MINUTE_MS)
#define DAY_MS    (24 * HOUR_MS)

#define assert_good(expression, err)               \
	do {                                       \
		if (!(expression))                 \
			fail_msg("%s", (err).msg); \
	} while (0)

static const char *postgres(void)
{
	return getenv("DECIMA_POSTGRES"); /* NOLINT(concurrency-mt-unsafe): nobody changes it */
}

static uint64_t now_ms(void)
{
	return clock_unix_ns() / NS_PER_MS;
}

static void open_writer(struct store_writer *writer)
{
	const struct store_writer_options options = {
		.postgres = postgres(),
		.topic = "topic",
		.known_series_max = 1000,
		.retention_raw_ns = 7 * 86400 * NS_PER_SECOND,
	};
	struct err err;

	assert_good(store_writer_open(writer, &options, &err), err);
}

static struct store_part part_from(int32_t partition, int64_t from, int64_t to,
				   const struct sample_set *set)
{
	return (struct store_part){
		.from = { .partition = partition, .next = from },
		.to = { .partition = partition,
			.next = to,
			.last_key = STR("key"),
			.last_timestamp_ms = 5 },
		.samples = set,
	};
}

static void flush(struct store_writer *writer, struct store_part *parts, size_t count,
		  struct store_flush *ret_flush)
{
	struct err err;

	assert_good(store_writer_flush(writer, parts, count, ret_flush, &err), err);
}

/* Sinks: collect everything into a set. */
static bool collect(void *self, const struct sample_set *set, struct err *err)
{
	(void)err;
	sample_set_merge(self, set, NULL);
	return true;
}

static void read_samples(const char *selector_text, uint64_t start_ms, uint64_t end_ms,
			 struct sample_set *got, struct arena *arena)
{
	struct store_reader reader;
	struct selector selector;
	struct store_stats stats = { 0 };
	struct err err;

	sample_set_init(got, arena);
	assert_good(selector_parse(str_from(selector_text), arena, &selector, &err), err);
	assert_good(store_reader_open(&reader, postgres(), &err), err);
	assert_good(store_reader_begin(&reader, &err), err);

	const struct store_query query = { &selector, start_ms, end_ms };
	const struct store_sink sink = { collect, got };

	assert_good(store_reader_samples(&reader, &query, &sink, &stats, &err), err);
	assert_int_equal(stats.samples_matched, got->samples.len);
	store_reader_end(&reader);
	store_reader_close(&reader);
	selector_done(&selector);
}

static int64_t sum(const struct sample_set *set)
{
	uint64_t total = 0;

	for (size_t i = 0; i < set->samples.len; i++)
		total += (uint64_t)set->samples.items[i].value;
	return (int64_t)total;
}

/* What the selector means, by a plain loop: the series' label wins over the sample's. */
struct plain {
	const struct selector *selector;
	uint64_t start_ms, end_ms;
};

static bool plain_keep(void *self, const struct sample_set *from, struct sample *sample)
{
	const struct plain *plain = self;
	const struct series *series = &from->series.items[sample->series];

	if (!str_eq(series->type, plain->selector->type) || sample->time_ms < plain->start_ms ||
	    sample->time_ms >= plain->end_ms)
		return false;
	for (size_t i = 0; i < plain->selector->matcher_count; i++) {
		const struct matcher *matcher = &plain->selector->matchers[i];
		str value = labels_get(series->labels, matcher->name);
		struct err err;
		bool matches;

		if (!value.ptr)
			value = labels_get(from->label_sets.items[sample->labels], matcher->name);
		assert_good(matcher_matches(matcher, value.ptr ? value : STR(""), &matches, &err),
			    err);
		if (!matches)
			return false;
	}
	return true;
}

static void assert_finds(const char *text, uint64_t start_ms, uint64_t end_ms,
			 const struct sample_set *all, size_t least)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set got, expected;
	struct selector selector;
	struct err err;

	sample_set_init(&expected, &arena);
	assert_good(selector_parse(str_from(text), &arena, &selector, &err), err);

	struct plain plain = { &selector, start_ms, end_ms };
	const struct sample_filter filter = { plain_keep, &plain };

	sample_set_merge(&expected, all, &filter);
	read_samples(text, start_ms, end_ms, &got, &arena);
	if (!str_eq(sample_set_text(&expected, &arena), sample_set_text(&got, &arena)))
		fail_msg("%s: %zu samples found, %zu expected", text, got.samples.len,
			 expected.samples.len);
	if (got.samples.len < least)
		fail_msg("%s: %zu samples say little", text, got.samples.len);
	selector_done(&selector);
}

static struct random_options options_at(uint64_t first_ms, uint64_t seed)
{
	return (struct random_options){
		.seed = seed,
		.samples = 4000,
		.series = 40,
		.stacks = 300,
		.frames = 200,
		.label_sets = 40,
		.first_ms = first_ms,
		.span_ms = 20000,
	};
}

static void finds_by_every_matcher_what_a_plain_loop_finds(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct sample_set sets[2], all;
	struct store_flush result;
	uint64_t first_ms = now_ms() - MINUTE_MS;

	(void)state;
	open_writer(&writer);
	sample_set_init(&all, &arena);
	for (uint64_t i = 0; i < 2; i++) {
		struct random_options options = options_at(first_ms, i + 1);

		sample_set_init(&sets[i], &arena);
		random_set_fill(&sets[i], &options);
		sample_set_merge(&all, &sets[i], NULL);
	}

	struct store_part parts[] = { part_from(3, -1, 10, &sets[0]),
				      part_from(1, -1, 20, &sets[1]) };

	flush(&writer, parts, 2, &result);
	assert_false(parts[0].lost || parts[1].lost);
	assert_int_equal(result.samples, 8000);
	assert_true(result.rows <= 64);
	store_writer_close(&writer);

	assert_finds("{}", 0, UINT64_MAX, &all, 8000);
	assert_finds("{}", first_ms + 5000, first_ms + 6000, &all, 100);
	assert_finds("{comm=\"comm3\"}", 0, UINT64_MAX, &all, 100);
	assert_finds("{comm!=\"comm3\"}", 0, UINT64_MAX, &all, 100);
	assert_finds("{comm=~\"comm[1-4]\",node=\"n1\"}", 0, UINT64_MAX, &all, 100);
	assert_finds("{comm!~\"comm[1-4]\"}", 0, UINT64_MAX, &all, 100);
	assert_finds("{comm=~\"nothing.*\"}", 0, UINT64_MAX, &all, 0);
	assert_finds("{service_name=\"17\"}", 0, UINT64_MAX, &all, 0);
	assert_finds("{pid=\"17\"}", 0, UINT64_MAX, &all, 1);
	assert_finds("{pid=~\"1.*\",thread_name!=\"comm2\",comm=~\".*[0-5]\"}", 0, UINT64_MAX, &all,
		     10);
	assert_finds("{pid=\"\"}", 0, UINT64_MAX, &all, 1);
	assert_finds("{absent=\"\"}", 0, UINT64_MAX, &all, 8000);
	assert_finds("{absent!=\"\"}", 0, UINT64_MAX, &all, 0);
	assert_finds("{absent!=\"x\",absent!~\"y\"}", 0, UINT64_MAX, &all, 8000);
	assert_finds("{__type__=\"x\"}", 0, UINT64_MAX, &all, 0);
	assert_finds("memory:inuse_space:bytes:space:bytes{}", 0, UINT64_MAX, &all, 0);
}

static void a_series_label_wins_over_a_samples_of_the_same_name(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct sample_set set;
	struct store_flush result;
	uint64_t first_ms = now_ms() - MINUTE_MS;
	static const struct label with[] = { { STR("pid"), STR("7") },
					     { STR("service_name"), STR("a") } };
	static const struct label without[] = { { STR("service_name"), STR("a") } };
	static const struct label pid_9[] = { { STR("pid"), STR("9") } };

	(void)state;
	open_writer(&writer);
	sample_set_init(&set, &arena);
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t series = sample_set_series(
			&set, STR(PROFILE_TYPE_CPU),
			i % 2 ? (struct labels){ with, 2 } : (struct labels){ without, 1 }, 5);
		uint32_t labels =
			i % 4 < 2 ? sample_set_labels(&set, (struct labels){ pid_9, 1 }) : 0;

		sample_set_add(&set, (struct sample){ series, 0, labels, i, first_ms + i });
	}

	struct store_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	store_writer_close(&writer);
	assert_finds("{pid=\"7\"}", 0, UINT64_MAX, &set, 20);
	assert_finds("{pid=\"9\"}", 0, UINT64_MAX, &set, 10);
	assert_finds("{pid=\"\"}", 0, UINT64_MAX, &set, 10);
	assert_finds("{pid!=\"9\"}", 0, UINT64_MAX, &set, 30);
}

static void finds_samples_however_late_they_came(void **state)
{
	static const uint64_t ages_ms[] = { 0, 50 * MINUTE_MS, 70 * MINUTE_MS, 30 * HOUR_MS,
					    6 * DAY_MS };
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct sample_set sets[ARRAY_LEN(ages_ms) + 1];
	struct store_flush result;
	uint64_t now = now_ms();

	(void)state;
	open_writer(&writer);
	for (size_t i = 0; i < ARRAY_LEN(ages_ms); i++) {
		struct random_options options = options_at(now - ages_ms[i] - MINUTE_MS, i + 1);
		struct store_part part =
			part_from(0, i ? (int64_t)i : -1, (int64_t)i + 1, &sets[i]);

		sample_set_init(&sets[i], &arena);
		random_set_fill(&sets[i], &options);
		flush(&writer, &part, 1, &result);
		assert_false(part.lost);
	}

	/* Ahead of the clock as far as it is allowed to be. */
	struct sample_set *ahead = &sets[ARRAY_LEN(ages_ms)];
	struct random_options options = options_at(now + 10 * MINUTE_MS - 21000, 99);
	struct store_part part = part_from(0, ARRAY_LEN(ages_ms), ARRAY_LEN(ages_ms) + 1, ahead);

	sample_set_init(ahead, &arena);
	random_set_fill(ahead, &options);
	flush(&writer, &part, 1, &result);
	store_writer_close(&writer);

	for (size_t i = 0; i < ARRAY_LEN(ages_ms); i++) {
		uint64_t first_ms = now - ages_ms[i] - MINUTE_MS;

		assert_finds("{}", first_ms, first_ms + 20000, &sets[i], 4000);
		assert_finds("{}", first_ms + 3000, first_ms + 4000, &sets[i], 100);
	}
	assert_finds("{}", options.first_ms, options.first_ms + 20000, ahead, 4000);
}

static void a_partition_that_another_took_is_lost_and_the_rest_is_stored(void **state)
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

	struct store_part first = part_from(5, -1, 100, &set);

	flush(&owner, &first, 1, &result);
	assert_false(first.lost);

	struct store_part parts[] = { part_from(5, -1, 100, &set), part_from(6, -1, 7, &set) };

	flush(&zombie, parts, 2, &result);
	assert_true(parts[0].lost);
	assert_false(parts[1].lost);
	assert_int_equal(zombie.fences_lost, 1);
	assert_int_equal(result.samples, 4000);

	struct store_part stale = part_from(5, 40, 41, &set);

	flush(&zombie, &stale, 1, &result);
	assert_true(stale.lost);
	assert_int_equal(result.samples, 0);

	assert_good(store_writer_offsets(&owner, offsets, 2, &arena, &err), err);
	assert_int_equal(offsets[0].next, 100);
	assert_int_equal(offsets[1].next, 7);
	assert_true(str_eq(offsets[1].last_key, STR("key")));
	assert_int_equal(offsets[1].last_timestamp_ms, 5);
	read_samples("{}", 0, UINT64_MAX, &got, &arena);
	assert_int_equal(got.samples.len, 8000);
	assert_true(sum(&got) == (int64_t)(2 * (uint64_t)sum(&set)));
	store_writer_close(&owner);
	store_writer_close(&zombie);
}

static void a_host_whose_row_moved_spoils_every_part_that_spoke_of_it(void **state)
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
	assert_int_equal(seen_take(&mine.seen, 1, &arena), SEEN_NEW);
	assert_int_equal(seen_take(&mine.seen, 5, &arena), SEEN_NEW);
	mine.status = STR("status\xff");
	mine.node = STR("n");
	mine.taken = 11;
	mine.stored = 10;
	mine.last_seen_ms = UINT64_C(1790000000123);

	struct store_part part = part_from(0, -1, 1, NULL);

	part.hosts = hosts;
	part.host_count = 1;
	flush(&writer, &part, 1, &result);
	assert_false(part.lost);
	assert_int_equal(mine.revision, 1);

	assert_good(store_writer_host(&writer, &other, &arena, &err), err);
	assert_int_equal(other.revision, 1);
	assert_int_equal(other.seen.highest, 5);
	assert_int_equal(seen_missing(&other.seen), 3);
	assert_true(str_eq(other.status, mine.status) && other.taken == 11 && other.stored == 10);
	assert_true(other.last_seen_ms == mine.last_seen_ms);

	/* Another ingester moves it; then ours is a revision behind. */
	struct store_part theirs = part_from(1, -1, 1, NULL), parts[2];

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

	/* A row that was read and is gone has moved too. */
	struct store_host gone = { .host = STR("gone"), .epoch = 1, .revision = 4 };
	struct store_host *const gones[] = { &gone };

	parts[0] = part_from(0, 1, 2, NULL);
	parts[0].hosts = gones;
	parts[0].host_count = 1;
	flush(&writer, parts, 1, &result);
	assert_true(parts[0].lost);
	store_writer_close(&writer);
}

/* Two ingesters that speak of the same series, at once, many times over. */
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
		struct store_part part = part_from(partition, i ? i : -1, i + 1, &set);

		sample_set_init(&set, &arena);
		random_set_fill(&set, &options);
		flush(&writer, &part, 1, &result);
		assert_false(part.lost);
	}
	store_writer_close(&writer);
	return NULL;
}

static void two_writers_of_the_same_series_do_not_disturb_each_other(void **state)
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
	read_samples("{}", 0, UINT64_MAX, &got, &arena);
	assert_int_equal(got.samples.len, 2 * 15 * 4000);
}

static bool has(const str *items, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(items[i], str_from(text)))
			return true;
	return false;
}

static void lists_labels_of_series_and_of_samples(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_reader reader;
	struct sample_set set;
	struct selector selector;
	struct store_flush result;
	struct random_options options = options_at(now_ms() - MINUTE_MS, 8);
	size_t count = 0;
	str *items = NULL;
	struct err err;

	(void)state;
	open_writer(&writer);
	sample_set_init(&set, &arena);
	random_set_fill(&set, &options);

	struct store_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	store_writer_close(&writer);

	assert_good(store_reader_open(&reader, postgres(), &err), err);
	assert_good(store_reader_begin(&reader, &err), err);
	assert_good(store_reader_label_names(&reader, NULL, 0, 0, UINT64_MAX, &arena, &items,
					     &count, &err),
		    err);
	assert_int_equal(count, 5);
	assert_true(has(items, count, "comm") && has(items, count, "node") &&
		    has(items, count, "pid") && has(items, count, "service_name") &&
		    has(items, count, "thread_name"));
	assert_good(store_reader_label_values(&reader, STR("comm"), NULL, 0, 0, UINT64_MAX, &arena,
					      &items, &count, &err),
		    err);
	assert_int_equal(count, 9);
	assert_true(str_eq(items[0], STR("comm0")) && str_eq(items[8], STR("comm8")));
	assert_good(store_reader_label_values(&reader, STR("thread_name"), NULL, 0, 0, UINT64_MAX,
					      &arena, &items, &count, &err),
		    err);
	assert_int_equal(count, 9);
	assert_good(
		store_reader_profile_types(&reader, 0, UINT64_MAX, &arena, &items, &count, &err),
		err);
	assert_int_equal(count, 1);
	assert_true(str_eq(items[0], STR(PROFILE_TYPE_CPU)));

	assert_good(selector_parse(STR("{comm=\"comm3\"}"), &arena, &selector, &err), err);

	const struct store_query query = { &selector, 0, UINT64_MAX };

	assert_good(store_reader_label_values(&reader, STR("comm"), &query, 1, 0, UINT64_MAX,
					      &arena, &items, &count, &err),
		    err);
	assert_int_equal(count, 1);
	assert_good(store_reader_label_names(&reader, &query, 1, 0, UINT64_MAX, &arena, &items,
					     &count, &err),
		    err);
	assert_int_equal(count, 5);
	selector_done(&selector);
	store_reader_end(&reader);
	store_reader_close(&reader);
}

static void query_i64(struct postgres *pg, const char *sql, int64_t *ret_value)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct err err;

	assert_good(postgres_query(pg, sql, NULL, 0, &rows, &err), err);
	*ret_value = postgres_get_i64(&rows, 0, 0);
}

static void drops_what_is_past_and_keeps_the_rest(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_flush result;
	struct sample_set set;
	uint64_t now = now_ms();
	struct random_options options = options_at(now - 6 * DAY_MS, 2);
	int64_t count;
	bool made;
	struct err err;

	(void)state;
	open_writer(&writer);
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

	assert_good(store_writer_maintain(&writer, &err), err);
	assert_int_equal(writer.partitions_dropped, 3);
	assert_good(partition_make(&writer.pg, PARTITION_SERIES, now - 12 * DAY_MS, &made, &err),
		    err);
	assert_good(postgres_exec(&writer.pg, late.ptr, &err), err);
	assert_good(store_writer_maintain(&writer, &err), err);
	assert_int_equal(writer.partitions_dropped, 3);

	sample_set_init(&set, &arena);
	random_set_fill(&set, &options);

	struct store_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	assert_good(store_writer_maintain(&writer, &err), err);
	query_i64(&writer.pg, "SELECT sum(samples) FROM chunk_raw", &count);
	assert_int_equal(count, 4001);
	query_i64(&writer.pg,
		  "SELECT count(*) FROM pg_inherits WHERE inhparent = 'chunk_raw'::regclass",
		  &count);
	assert_int_equal(count, 2);
	store_writer_close(&writer);
}

static void a_detach_that_was_cut_short_is_finished_later(void **state)
{
	struct store_writer writer;
	struct postgres other;
	const struct postgres_options options = { .conninfo = postgres() };
	int64_t count;
	bool made;
	struct err err;

	(void)state;
	open_writer(&writer);
	assert_good(postgres_open(&other, &options, &err), err);
	assert_good(
		partition_make(&writer.pg, PARTITION_CHUNK_RAW, now_ms() - 9 * DAY_MS, &made, &err),
		err);

	/* A query that has looked at the table holds up the end of detaching. */
	assert_good(postgres_exec(&other, "BEGIN; SELECT count(*) FROM chunk_raw", &err), err);
	assert_good(store_writer_maintain(&writer, &err), err);
	assert_int_equal(writer.partitions_dropped, 0);
	query_i64(&writer.pg, "SELECT count(*) FROM pg_inherits WHERE inhdetachpending", &count);
	assert_int_equal(count, 1);
	assert_good(postgres_exec(&other, "COMMIT", &err), err);
	assert_good(store_writer_maintain(&writer, &err), err);
	assert_int_equal(writer.partitions_dropped, 1);
	postgres_close(&other);
	store_writer_close(&writer);
}

static void goes_on_after_the_connection_was_cut(void **state)
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

	struct store_part part = part_from(0, -1, 1, &set);

	assert_false(store_writer_flush(&writer, &part, 1, &result, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(part.lost);
	flush(&writer, &part, 1, &result);
	assert_false(part.lost);
	read_samples("{}", 0, UINT64_MAX, &got, &arena);
	assert_int_equal(got.samples.len, 4000);
	store_writer_close(&writer);
	store_writer_close(&killer);
}

static void a_reader_says_that_there_are_no_tables_yet(void **state)
{
	struct store_reader reader;
	struct err err;

	(void)state;
	assert_good(store_reader_open(&reader, postgres(), &err), err);
	assert_false(store_reader_begin(&reader, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	store_reader_close(&reader);
}

/* Without a name: print the names. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(finds_by_every_matcher_what_a_plain_loop_finds),
		TEST(a_series_label_wins_over_a_samples_of_the_same_name),
		TEST(finds_samples_however_late_they_came),
		TEST(a_partition_that_another_took_is_lost_and_the_rest_is_stored),
		TEST(a_host_whose_row_moved_spoils_every_part_that_spoke_of_it),
		TEST(two_writers_of_the_same_series_do_not_disturb_each_other),
		TEST(lists_labels_of_series_and_of_samples),
		TEST(drops_what_is_past_and_keeps_the_rest),
		TEST(a_detach_that_was_cut_short_is_finished_later),
		TEST(goes_on_after_the_connection_was_cut),
		TEST(a_reader_says_that_there_are_no_tables_yet),
	};

	if (argc < 2) {
		for (size_t i = 0; i < ARRAY_LEN(tests); i++)
			puts(tests[i].name);
		return 0;
	}
	cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
