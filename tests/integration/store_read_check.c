// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/profile_type.h"
#include "store/limits.h"
#include "store/maintenance/partition.h"
#include "store_check.h"

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
	read_samples(text, start_ms, end_ms, &got, &arena, NULL);
	if (!str_eq(sample_set_text(&expected, &arena), sample_set_text(&got, &arena)))
		fail_msg("%s: %zu samples found, %zu expected", text, got.samples.len,
			 expected.samples.len);
	if (got.samples.len < least)
		fail_msg("%s: %zu samples say little", text, got.samples.len);
	selector_done(&selector);
}

static void every_matcher_finds_the_same_as_a_plain_loop(void **state)
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

	struct store_flush_part parts[] = { part_from(3, -1, 10, &sets[0]),
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

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	store_writer_close(&writer);
	assert_finds("{pid=\"7\"}", 0, UINT64_MAX, &set, 20);
	assert_finds("{pid=\"9\"}", 0, UINT64_MAX, &set, 10);
	assert_finds("{pid=\"\"}", 0, UINT64_MAX, &set, 10);
	assert_finds("{pid!=\"9\"}", 0, UINT64_MAX, &set, 30);
}

static void finds_samples_however_late_they_arrived(void **state)
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
		struct store_flush_part part =
			part_from(0, i ? (int64_t)i : -1, (int64_t)i + 1, &sets[i]);

		sample_set_init(&sets[i], &arena);
		random_set_fill(&sets[i], &options);
		flush(&writer, &part, 1, &result);
		assert_false(part.lost);
	}

	/* As far ahead of the clock as allowed. */
	struct sample_set *ahead = &sets[ARRAY_LEN(ages_ms)];
	struct random_options options = options_at(now + 10 * MINUTE_MS - 21000, 99);
	struct store_flush_part part =
		part_from(0, ARRAY_LEN(ages_ms), ARRAY_LEN(ages_ms) + 1, ahead);

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

static void a_row_without_the_label_is_not_read(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct sample_set set, got;
	struct store_flush result;
	struct store_stats stats;
	uint64_t first_ms = now_ms() - MINUTE_MS;
	static const struct label trace[] = { { STR("trace_id"), STR("x") } };

	(void)state;
	open_writer(&writer);
	sample_set_init(&set, &arena);
	for (uint32_t i = 0; i < 200; i++) {
		struct label *labels = arena_array(&arena, struct label, 1);

		labels[0].name = STR("service_name");
		labels[0].value = str_format(&arena, "service%u", i);
		sample_set_add(
			&set,
			(struct sample){
				sample_set_series(&set, STR(PROFILE_TYPE_CPU),
						  (struct labels){ labels, 1 }, 5),
				0,
				i == 7 ? sample_set_labels(&set, (struct labels){ trace, 1 }) : 0,
				i, first_ms + i });
	}

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	store_writer_close(&writer);
	assert_true(result.rows > 40);
	read_samples("{trace_id=\"x\"}", 0, UINT64_MAX, &got, &arena, &stats);
	assert_int_equal(got.samples.len, 1);
	assert_int_equal(stats.chunks, 1);
	read_samples("{trace_id!=\"x\"}", 0, UINT64_MAX, &got, &arena, &stats);
	assert_int_equal(got.samples.len, 199);
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

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	store_writer_close(&writer);

	begin_reader(&reader);
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

static void a_reader_reports_that_there_are_no_tables_yet(void **state)
{
	struct store_reader reader;
	struct err err;

	(void)state;
	assert_good(store_reader_open(&reader,
				      &(struct store_reader_options){ .postgres = postgres() },
				      &err),
		    err);
	assert_false(store_reader_begin(&reader, NULL, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	store_reader_close(&reader);
}

/* The bounds that reader begins with, or joins another reader's snapshot with. */
static struct store_bounds bounds_of(struct store_reader *reader, const char *snapshot,
				     const struct store_bounds *asked)
{
	struct store_bounds got;
	struct err err;

	assert_good(snapshot ? store_reader_join(reader, snapshot, asked, &err)
			     : store_reader_begin(reader, asked, &err),
		    err);
	got = reader->bounds;
	store_reader_end(reader);
	return got;
}

/* Retention waits for all queries, which must therefore end. */
static void no_snapshot_has_a_later_deadline_than_the_limit(void **state)
{
	const uint64_t max_ns = QUERY_TIMEOUT_MAX_MS * NS_PER_MS;
	const struct store_bounds late = { .deadline_ns = UINT64_MAX };
	const struct store_bounds soon = { .deadline_ns = clock_monotonic_ns() + max_ns / 2 };
	struct store_writer writer;
	struct store_reader leader, reader = { .options = { .postgres = postgres() } };
	char snapshot[64];
	struct err err;

	(void)state;
	open_writer(&writer);
	store_writer_close(&writer);
	begin_reader(&leader);
	assert_good(store_reader_export(&leader, snapshot, sizeof(snapshot), &err), err);

	for (size_t i = 0; i < 2; i++) {
		const char *joined = i ? snapshot : NULL;

		assert_true(bounds_of(&reader, joined, &late).deadline_ns <=
			    clock_monotonic_ns() + max_ns);
		assert_true(bounds_of(&reader, joined, &soon).deadline_ns == soon.deadline_ns);
	}
	assert_true(leader.bounds.deadline_ns <= clock_monotonic_ns() + max_ns);
	store_reader_end(&leader);
	store_reader_close(&leader);
	store_reader_close(&reader);
}

static bool add(void *self, const struct sample_set *set, struct err *err)
{
	size_t *count = self;

	(void)err;
	*count += set->samples.len;
	return true;
}

/* Values before and from a time on. */
struct halves {
	uint64_t middle_ms;
	int64_t sums[2];
};

static bool add_to_half(void *self, const struct sample_set *set, struct err *err)
{
	struct halves *halves = self;

	(void)err;
	for (size_t i = 0; i < set->samples.len; i++)
		halves->sums[set->samples.items[i].time_ms >= halves->middle_ms] +=
			set->samples.items[i].value;
	return true;
}

/* The window starts within the first step, as with align=1. */
static void sums_keep_to_steps_that_start_before_the_window(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_reader reader;
	struct store_flush result;
	struct sample_set set;
	struct selector selector;
	struct halves halves = { .middle_ms = now_ms() / HOUR_MS * HOUR_MS };
	const struct store_sink sink = { add_to_half, &halves };
	const struct store_query query = {
		.selector = &selector,
		.start_ms = halves.middle_ms - 43 * MINUTE_MS,
		.end_ms = halves.middle_ms + 43 * MINUTE_MS,
		.projection = { .level = STORE_SERIES_SUMS,
				.steps_start_ms = halves.middle_ms - HOUR_MS,
				.step_ms = HOUR_MS },
	};
	struct err err;

	(void)state;
	open_writer(&writer);
	sample_set_init(&set, &arena);

	uint32_t series = sample_set_series(&set, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 5);

	sample_set_add(&set, (struct sample){ series, 0, 0, 1, halves.middle_ms - 1 });
	sample_set_add(&set, (struct sample){ series, 0, 0, 2, halves.middle_ms });

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	assert_int_equal(result.rows, 1);
	store_writer_close(&writer);
	assert_good(selector_parse(STR("{}"), &arena, &selector, &err), err);
	begin_reader(&reader);

	assert_good(store_reader_samples(&reader, 1, &query, &sink, &err), err);

	assert_int_equal(halves.sums[0], 1);
	assert_int_equal(halves.sums[1], 2);
	store_reader_end(&reader);
	store_reader_close(&reader);
	selector_done(&selector);
}

/* The query reads the tables that retention is about to drop last. */
static void partitions_of_the_snapshot_exist_until_its_end(void **state)
{
	static const char age[] = "UPDATE chunk_raw SET late = false, "
				  "arrival = arrival - interval '9 days'";
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_maintenance maintenance;
	struct store_reader reader;
	struct store_flush result;
	struct sample_set set;
	struct selector selector;
	uint64_t at_ms = now_ms() - 9 * DAY_MS;
	struct random_options options = options_at(at_ms, 1);
	const struct store_query query = { &selector, 0, UINT64_MAX };
	size_t count = 0;
	const struct store_sink sink = { add, &count };
	char snapshot[64];
	bool made;
	struct err err;

	(void)state;
	open_writer(&writer);
	init_maintenance(&maintenance);
	sample_set_init(&set, &arena);
	random_set_fill(&set, &options);

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	assert_good(partition_make(&writer.pg, PARTITION_CHUNK_RAW, at_ms, &made, &err), err);
	assert_good(postgres_exec(&writer.pg, age, &err), err);
	assert_good(selector_parse(STR("{}"), &arena, &selector, &err), err);
	begin_reader(&reader);
	assert_good(store_reader_export(&reader, snapshot, sizeof(snapshot), &err), err);

	assert_good(store_maintenance_run(&maintenance, &err), err);
	assert_good(store_reader_samples(&reader, 1, &query, &sink, &err), err);

	assert_int_equal(maintenance.partitions_dropped, 0);
	assert_int_equal(count, 4000);
	store_reader_end(&reader);
	assert_good(store_maintenance_run(&maintenance, &err), err);
	assert_true(maintenance.partitions_dropped >= 1);
	store_reader_close(&reader);
	store_writer_close(&writer);
	selector_done(&selector);
}

const struct CMUnitTest read_tests[] = {
	TEST(every_matcher_finds_the_same_as_a_plain_loop),
	TEST(a_series_label_wins_over_a_samples_of_the_same_name),
	TEST(finds_samples_however_late_they_arrived),
	TEST(lists_labels_of_series_and_of_samples),
	TEST(no_snapshot_has_a_later_deadline_than_the_limit),
	TEST(a_reader_reports_that_there_are_no_tables_yet),
	TEST(a_row_without_the_label_is_not_read),
	TEST(sums_keep_to_steps_that_start_before_the_window),
	TEST(partitions_of_the_snapshot_exist_until_its_end),
};
const size_t read_test_count = ARRAY_LEN(read_tests);
