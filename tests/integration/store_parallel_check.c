// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/profile_type.h"
#include "store_check.h"

enum { READERS = 3, PARTS = 2 };

/* Stacks that compress badly: enough to read for more than one connection. */
static void write_much(struct sample_set *all, struct arena *arena)
{
	struct store_writer writer;

	open_writer(&writer);
	sample_set_init(all, arena);
	for (uint64_t i = 0; i < PARTS; i++) {
		AUTO_ARENA scratch = { 0 };
		struct sample_set set;
		struct store_flush result;

		sample_set_init(&set, &scratch);
		random_set_fill(&set, &(struct random_options){ .seed = i + 1,
								.samples = 60000,
								.series = 40,
								.stacks = 40000,
								.frames = 60000,
								.label_sets = 20,
								.first_ms = now_ms() - MINUTE_MS,
								.span_ms = 20000 });

		struct store_flush_part part = part_from((int32_t)i, -1, 10, &set);

		flush(&writer, &part, 1, &result);
		sample_set_merge(all, &set, NULL);
	}
	store_writer_close(&writer);
}

static bool collect(void *self, const struct sample_set *set, struct err *err)
{
	(void)err;
	sample_set_merge(self, set, NULL);
	return true;
}

static bool fail_late(void *self, const struct sample_set *set, struct err *err)
{
	size_t *samples = self;

	*samples += set->samples.len;
	return *samples < 20000 || err_set(err, ERR_LIMIT, "sink is full");
}

static void open_readers(struct store_reader readers[READERS], const char *workers)
{
	struct err err;

	for (size_t i = 0; i < READERS; i++)
		readers[i] = (struct store_reader){ .options = { .postgres = i ? workers
									       : postgres() } };
	assert_good(store_reader_begin(&readers[0], NULL, &err), err);
}

static void close_readers(struct store_reader readers[READERS])
{
	store_reader_end(&readers[0]);
	for (size_t i = 0; i < READERS; i++)
		store_reader_close(&readers[i]);
}

/* A checksum that does not depend on the order of the samples. */
static uint64_t sum_of(const struct sample_set *set)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];
		hash128 stack = sample_set_stack_id(set, sample->stack);
		struct labels labels = set->label_sets.items[sample->labels];
		uint64_t key[] = { stack.high,
				   stack.low,
				   set->series.items[sample->series].id,
				   (uint64_t)sample->value,
				   sample->time_ms,
				   hash_64(labels_get(labels, STR("pid"))) };

		sum += hash_64((str){ (const char *)key, sizeof(key) });
	}
	return sum;
}

/* The readers find all samples, each sample once. */
static void assert_reads_all(const struct sample_set *all, const char *workers, bool workers_join)
{
	AUTO_ARENA arena = { 0 };
	struct arena arenas[READERS] = { 0 };
	struct store_reader readers[READERS];
	struct sample_set sets[READERS], got;
	struct store_sink sinks[READERS];
	struct selector selector;
	struct err err;

	open_readers(readers, workers);
	for (size_t i = 0; i < READERS; i++) {
		sample_set_init(&sets[i], &arenas[i]);
		sinks[i] = (struct store_sink){ collect, &sets[i] };
	}
	/* An expression on labels of samples: each connection must have matchers of its own. */
	assert_good(selector_parse(STR("{pid=~\"[0-9]+|\"}"), &arena, &selector, &err), err);
	assert_good(store_reader_samples(readers, READERS,
					 &(struct store_query){ &selector, 0, UINT64_MAX }, sinks,
					 &err),
		    err);

	const struct store_stats *stats = &readers[0].stats;

	assert_int_equal(stats->samples_matched, all->samples.len);
	assert_int_equal(stats->chunks, stats->rows);
	if (workers_join)
		assert_in_range(stats->connections, 1, READERS - 1);
	else
		assert_int_equal(stats->connections, 0);
	sample_set_init(&got, &arena);
	for (size_t i = 0; i < READERS; i++) {
		sample_set_merge(&got, &sets[i], NULL);
		arena_free(&arenas[i]);
	}
	assert_true(sum_of(&got) == sum_of(all));
	selector_done(&selector);
	close_readers(readers);
}

static void a_parallel_scan_reads_each_sample_once(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set all;

	(void)state;
	write_much(&all, &arena);
	assert_reads_all(&all, postgres(), true);
	/* Workers that cannot connect are left out. */
	assert_reads_all(&all, "postgresql://127.0.0.1:1/nothing", false);
}

static void a_failure_of_one_connection_ends_the_scan(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_reader readers[READERS];
	struct store_sink sinks[READERS];
	struct selector selector;
	struct sample_set all;
	size_t samples[READERS] = { 0 };
	struct err err = { 0 };

	(void)state;
	write_much(&all, &arena);
	open_readers(readers, postgres());
	for (size_t i = 0; i < READERS; i++)
		sinks[i] = (struct store_sink){ fail_late, &samples[i] };
	assert_good(selector_parse(STR("{}"), &arena, &selector, &err), err);
	assert_false(store_reader_samples(
		readers, READERS, &(struct store_query){ &selector, 0, UINT64_MAX }, sinks, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(err.msg, "sink is full");
	selector_done(&selector);
	close_readers(readers);
}

static uint64_t count_samples(struct store_reader *reader)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set got;
	struct selector selector;
	struct err err;

	sample_set_init(&got, &arena);
	assert_good(selector_parse(STR("{}"), &arena, &selector, &err), err);
	assert_good(store_reader_samples(reader, 1,
					 &(struct store_query){ &selector, 0, UINT64_MAX },
					 &(struct store_sink){ collect, &got }, &err),
		    err);
	selector_done(&selector);
	return got.samples.len;
}

static void a_reader_that_joins_a_snapshot_sees_the_same_rows(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_reader readers[READERS];
	struct store_writer writer;
	struct sample_set sets[2];
	struct store_flush result;
	char snapshot[64];
	struct err err;

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct random_options options = options_at(now_ms() - MINUTE_MS, i + 1);

		sample_set_init(&sets[i], &arena);
		random_set_fill(&sets[i], &options);
	}

	struct store_flush_part parts[] = { part_from(0, -1, 1, &sets[0]),
					    part_from(1, -1, 1, &sets[1]) };

	open_writer(&writer);
	flush(&writer, &parts[0], 1, &result);
	open_readers(readers, postgres());
	assert_good(store_reader_export(&readers[0], snapshot, sizeof(snapshot), &err), err);
	flush(&writer, &parts[1], 1, &result);
	store_writer_close(&writer);

	const struct store_bounds bounds = { clock_monotonic_ns() + 60 * NS_PER_SECOND, NULL };

	assert_good(store_reader_join(&readers[1], snapshot, &bounds, &err), err);
	assert_int_equal(count_samples(&readers[1]), sets[0].samples.len);
	assert_int_equal(count_samples(&readers[0]), sets[0].samples.len);
	store_reader_end(&readers[1]);
	assert_good(store_reader_begin(&readers[1], NULL, &err), err);
	assert_int_equal(count_samples(&readers[1]), sets[0].samples.len + sets[1].samples.len);
	store_reader_end(&readers[1]);
	close_readers(readers);

	/* The snapshot ends with the leader's transaction. */
	assert_false(store_reader_join(&readers[2], snapshot, &bounds, &err));
	store_reader_close(&readers[2]);
}

const struct CMUnitTest parallel_tests[] = {
	TEST(a_parallel_scan_reads_each_sample_once),
	TEST(a_failure_of_one_connection_ends_the_scan),
	TEST(a_reader_that_joins_a_snapshot_sees_the_same_rows),
};
const size_t parallel_test_count = ARRAY_LEN(parallel_tests);
