// SPDX-License-Identifier: Apache-2.0
/*
 * store_check - the writer and the reader against a real PostgreSQL.
 *
 * `store_check NAME` runs one test in the empty database named by DECIMA_POSTGRES; test_store.py
 * runs each test. The result of the reader is compared with that of a plain loop over the samples
 * that were written.
 */
#include "store_check.h"

#include "base/clock.h"

#include <stdio.h>

const char *postgres(void)
{
	return getenv("DECIMA_POSTGRES"); /* NOLINT(concurrency-mt-unsafe): not modified */
}

uint64_t now_ms(void)
{
	return clock_unix_ns() / NS_PER_MS;
}

void open_writer(struct store_writer *writer)
{
	const struct store_writer_options options = {
		.postgres = postgres(),
		.topic = "topic",
		.seen_ids_max = 1000,
	};
	struct err err;

	assert_good(store_writer_open(writer, &options, &err), err);
}

void begin_reader(struct store_reader *reader)
{
	const struct store_reader_options options = { .postgres = postgres() };
	struct err err;

	assert_good(store_reader_open(reader, &options, &err), err);
	assert_good(store_reader_begin(reader, NULL, &err), err);
}

void init_maintenance(struct store_maintenance *maintenance)
{
	const struct store_maintenance_options options = {
		.postgres = postgres(),
		.retention_raw_ns = 7 * 86400 * NS_PER_SECOND,
		.detach_ms = 1000,
	};

	store_maintenance_init(maintenance, &options);
}

struct store_flush_part part_from(int32_t partition, int64_t from, int64_t to,
				  const struct sample_set *set)
{
	return (struct store_flush_part){
		.from = { .partition = partition, .next = from },
		.to = { .partition = partition,
			.next = to,
			.last_key = STR("key"),
			.last_timestamp_ms = 5 },
		.samples = set,
	};
}

void flush(struct store_writer *writer, struct store_flush_part *parts, size_t count,
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

void read_samples(const char *selector_text, uint64_t start_ms, uint64_t end_ms,
		  struct sample_set *got, struct arena *arena, struct store_stats *ret_stats)
{
	struct store_reader reader;
	struct selector selector;
	struct err err;

	sample_set_init(got, arena);
	assert_good(selector_parse(str_from(selector_text), arena, &selector, &err), err);
	begin_reader(&reader);

	const struct store_query query = { &selector, start_ms, end_ms };
	const struct store_sink sink = { collect, got };

	assert_good(store_reader_samples(&reader, 1, &query, &sink, &err), err);
	assert_int_equal(reader.stats.samples_matched, got->samples.len);
	if (ret_stats)
		*ret_stats = reader.stats;
	store_reader_end(&reader);
	store_reader_close(&reader);
	selector_done(&selector);
}

bool plain_keep(void *self, const struct sample_set *from, struct sample *sample)
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

struct random_options options_at(uint64_t first_ms, uint64_t seed)
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

/* Without a name: print the names. */
int main(int argc, char **argv)
{
	struct CMUnitTest tests[32];
	size_t count = 0;

	for (size_t i = 0; i < label_test_count; i++)
		tests[count++] = label_tests[i];
	for (size_t i = 0; i < read_test_count; i++)
		tests[count++] = read_tests[i];
	for (size_t i = 0; i < write_test_count; i++)
		tests[count++] = write_tests[i];
	for (size_t i = 0; i < maintenance_test_count; i++)
		tests[count++] = maintenance_tests[i];
	for (size_t i = 0; i < parallel_test_count; i++)
		tests[count++] = parallel_tests[i];
	if (argc < 2) {
		for (size_t i = 0; i < count; i++)
			puts(tests[i].name);
		return 0;
	}
	cmocka_set_test_filter(argv[1]);
	return _cmocka_run_group_tests("store", tests, count, NULL, NULL);
}
