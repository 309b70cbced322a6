// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "store_check.h"

/* Series with many combinations of labels; samples with `pid` and sometimes `pod`. */
static struct labels various_labels(struct arena *arena, size_t i, bool of_sample)
{
	static const char *const names[] = { "aa", "container", "node", "pod", "unit", "zone" };
	static const char *const signs[] = { "a 50%_\\b", "a 50xx\\b", "a 50%_xb", "a 50%_" };
	struct label *items = arena_array(arena, struct label, ARRAY_LEN(names) + 2);
	size_t len = 0;

	if (of_sample) {
		items[len++] = (struct label){ STR("pid"), str_format(arena, "%zu", i % 7) };
		if (i % 3 == 0)
			items[len++] = (struct label){ STR("pod"), STR("of-the-sample") };
		return labels_of(items, len);
	}
	for (size_t j = 0; j < ARRAY_LEN(names); j++)
		if (i * 2654435761 >> j & 1)
			items[len++] = (struct label){ str_from(names[j]),
						       str_format(arena, "%s-%zu", names[j],
								  i % (20 + j)) };
	items[len++] = (struct label){ STR("service_name"), str_format(arena, "s%zu", i % 9) };
	items[len++] = (struct label){ STR("signs"), str_from(signs[i % ARRAY_LEN(signs)]) };
	return labels_of(items, len);
}

static str value_of(const struct sample_set *set, const struct sample *sample, str name)
{
	str value = labels_get(set->series.items[sample->series].labels, name);

	return value.ptr ? value : labels_get(set->label_sets.items[sample->labels], name);
}

static bool merge_into(void *self, const struct sample_set *set, struct err *err)
{
	(void)err;
	sample_set_merge(self, set, NULL);
	return true;
}

/* Samples are identified by their times, which are unique. */
static void assert_few_labels(struct store_reader *reader, const char *text, const str *names,
			      size_t name_count, const struct sample_set *all)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set got, expected;
	struct selector selector;
	struct err err;

	assert_good(selector_parse(str_from(text), &arena, &selector, &err), err);
	sample_set_init(&got, &arena);
	sample_set_init(&expected, &arena);

	struct plain plain = { &selector, 0, UINT64_MAX };
	const struct store_query query = { .selector = &selector,
					   .end_ms = UINT64_MAX,
					   .projection = { .level = STORE_STACKS,
							   .label_names = names,
							   .label_count = name_count } };
	const struct store_sink sink = { .on_samples = merge_into, .self = &got };

	sample_set_merge(&expected, all, &(struct sample_filter){ plain_keep, &plain });
	assert_good(store_reader_samples(reader, 1, &query, &sink, &err), err);
	assert_int_equal(got.samples.len, expected.samples.len);
	assert_true(got.samples.len > 0);
	for (size_t i = 0; i < got.samples.len; i++) {
		const struct sample *sample = &got.samples.items[i];
		const struct sample *same = all->samples.items;

		while (same->time_ms != sample->time_ms)
			same++;
		for (size_t j = 0; j < name_count; j++)
			if (!str_eq(value_of(&got, sample, names[j]),
				    value_of(all, same, names[j])))
				fail_msg("%s: a sample's " STR_FMT, text, STR_ARG(names[j]));
	}
	selector_done(&selector);
}

static void requested_labels_are_returned_whatever_other_labels_series_have(void **state)
{
	static const struct {
		str names[2];
		size_t count;
	} splits[] = { { { STR("pod") }, 1 },
		       { { STR("aa"), STR("zone") }, 2 },
		       { { STR("pid"), STR("pod") }, 2 },
		       { { STR("absent"), STR("unit") }, 2 },
		       { { STR("service_name") }, 1 },
		       { { STR("__type__"), STR("node") }, 2 } };
	static const char *const selectors[] = {
		"{}",
		"{service_name!=\"s3\"}",
		"{pod=~\".*[05]\"}",
		"{signs=~\".*50%_\\\\\\\\b\"}",
		"{signs!~\".*50%_.*\"}",
		"{pod!~\".*[05]\",unit=~\"unit-1|\"}",
		"{service_name=\"s3\",pid=\"3\",zone=~\".*-.*\"}"
	};
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_reader reader;
	struct sample_set set;
	struct store_flush result;
	uint64_t first_ms = now_ms() - MINUTE_MS;

	(void)state;
	open_writer(&writer);
	sample_set_init(&set, &arena);
	for (size_t i = 0; i < 900; i++)
		sample_set_add(
			&set,
			(struct sample){
				.series = sample_set_series(&set, STR(PROFILE_TYPE_CPU),
							    various_labels(&arena, i, false), 5),
				.labels = sample_set_labels(&set, various_labels(&arena, i, true)),
				.value = (int64_t)i,
				.time_ms = first_ms + i,
			});

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	store_writer_close(&writer);
	begin_reader(&reader);
	for (size_t i = 0; i < ARRAY_LEN(selectors); i++)
		for (size_t j = 0; j < ARRAY_LEN(splits); j++)
			assert_few_labels(&reader, selectors[i], splits[j].names, splits[j].count,
					  &set);
	store_reader_end(&reader);
	store_reader_close(&reader);
}

enum { MANY = 40000 }; /* series: more than one fetch from the index */

static bool add_values(void *self, const struct sample_set *set, struct err *err)
{
	int64_t *sum = self;

	(void)err;
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];

		assert_true(labels_get(set->series.items[sample->series].labels, STR("pod")).len);
		*sum += sample->value;
	}
	return true;
}

/* One sample of each series, a tenth of a second apart. */
static void fill_many(struct sample_set *set, uint64_t first_ms)
{
	struct arena *arena = set->arena;

	for (size_t i = 0; i < MANY; i++) {
		struct label *items = arena_array(arena, struct label, 3);

		items[0] = (struct label){ STR("pod"), str_format(arena, "p%zu", i) };
		items[1] = (struct label){ STR("service_name"), str_format(arena, "s%zu", i % 90) };
		items[2] = (struct label){ STR("team"), str_format(arena, "t%zu", i % 90 % 2) };
		sample_set_add(set, (struct sample){
					    .series = sample_set_series(set, STR(PROFILE_TYPE_CPU),
									labels_of(items, 3), 5),
					    .value = (int64_t)i,
					    .time_ms = first_ms + i * 100,
				    });
	}
}

/* Samples [first, end) are in the window; returns how many series were looked up for them. */
static uint64_t assert_sum(struct store_reader *reader, const char *text, uint64_t first_ms,
			   size_t first, size_t end)
{
	static const str name = STR("pod");
	AUTO_ARENA arena = { 0 };
	struct selector selector;
	struct err err;
	int64_t expected = 0, sum = 0;
	uint64_t before = reader->stats.series;
	const struct store_query query = {
		.selector = &selector,
		.start_ms = first_ms + first * 100,
		.end_ms = first_ms + end * 100,
		.projection = { .level = STORE_STACKS, .label_names = &name, .label_count = 1 },
	};
	const struct store_sink sink = { .on_samples = add_values, .self = &sum };

	assert_good(selector_parse(str_from(text), &arena, &selector, &err), err);
	assert_good(store_reader_samples(reader, 1, &query, &sink, &err), err);
	selector_done(&selector);
	for (size_t i = first; i < end; i++)
		expected += (int64_t)(strstr(text, "t1") && i % 90 % 2 == 0 ? 0 : i);
	assert_int_equal(sum, expected);
	return reader->stats.series - before;
}

static void the_index_is_used_for_a_window_with_most_series(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct store_writer writer;
	struct store_reader reader;
	struct sample_set set;
	struct store_flush result;
	/* 50 minutes before a midnight: the 30,000th sample is the first of its day. */
	uint64_t first_ms = now_ms() / DAY_MS * DAY_MS - DAY_MS - 50 * MINUTE_MS;

	(void)state;
	open_writer(&writer);
	sample_set_init(&set, &arena);
	fill_many(&set, first_ms);

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	store_writer_close(&writer);
	begin_reader(&reader);
	assert_int_equal(assert_sum(&reader, "{}", first_ms, 0, MANY), MANY);
	assert_int_equal(assert_sum(&reader, "{}", first_ms, 500, MANY * 8 / 10), MANY);
	assert_int_equal(assert_sum(&reader, "{}", first_ms, 500, 4500), 4000);
	assert_int_equal(assert_sum(&reader, "{}", first_ms, 28000, 32000), 4000);
	assert_int_equal(assert_sum(&reader, "{team=\"t1\"}", first_ms, 28000, 32000), 2000);
	assert_int_equal(assert_sum(&reader, "{team=~\"t1.*\"}", first_ms, 500, MANY), MANY / 2);
	assert_int_equal(assert_sum(&reader, "{}", first_ms, 500, 500), 0);
	store_reader_end(&reader);
	store_reader_close(&reader);
}

const struct CMUnitTest label_tests[] = {
	TEST(requested_labels_are_returned_whatever_other_labels_series_have),
	TEST(the_index_is_used_for_a_window_with_most_series),
};
const size_t label_test_count = ARRAY_LEN(label_tests);
