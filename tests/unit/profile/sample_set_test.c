// SPDX-License-Identifier: Apache-2.0
#include "profile/sample_set.h"
#include "support/test.h"

#include <stdio.h>

static struct frame native(uint64_t address)
{
	return (struct frame){ .type = STR("native"), .path = STR("/bin/x"), .address = address };
}

static void equal_items_get_one_index(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct frame a = native(1), b = native(2);
	struct label item = { STR("comm"), STR("x") };
	struct labels labels = { &item, 1 };

	(void)state;
	sample_set_init(&set, &arena);

	uint32_t frames[] = { sample_set_frame(&set, &a), sample_set_frame(&set, &b) };
	uint32_t stack = sample_set_stack(&set, frames, 2);
	uint32_t series = sample_set_series(&set, STR("t"), labels, 0);

	assert_int_not_equal(frames[0], frames[1]);
	assert_int_equal(sample_set_frame(&set, &a), frames[0]);
	assert_int_equal(sample_set_stack(&set, frames, 2), stack);
	assert_int_not_equal(sample_set_stack(&set, frames, 1), stack);
	assert_int_equal(sample_set_stack(&set, NULL, 0), 0);
	assert_int_equal(sample_set_labels(&set, (struct labels){ 0 }), 0);
	assert_int_equal(sample_set_labels(&set, labels), 1);
	assert_int_equal(sample_set_labels(&set, labels), 1);
	assert_int_equal(sample_set_series(&set, STR("t"), labels, 7), series);
	assert_int_equal(set.series.items[series].period, 7);
	assert_int_not_equal(sample_set_series(&set, STR("u"), labels, 0), series);
}

static void finds_every_item_after_growing(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;

	(void)state;
	sample_set_init(&set, &arena);
	for (uint32_t i = 0; i < 10000; i++) {
		struct frame frame = native(i);

		assert_int_equal(sample_set_frame(&set, &frame), i);
	}
	for (uint32_t i = 0; i < 10000; i++) {
		struct frame frame = native(i);

		assert_int_equal(sample_set_frame(&set, &frame), i);
	}
	assert_int_equal(set.frames.len, 10000);
}

/* A set whose strings the caller overwrites after the merge. */
static void fill(struct sample_set *set, char *name, uint64_t address)
{
	struct frame frame = native(address);
	struct label *item = arena_new(set->arena, struct label);

	*item = (struct label){ STR("comm"), str_from(name) };
	frame.path = str_from(name);

	uint32_t index = sample_set_frame(set, &frame);
	struct labels labels = { item, 1 };

	sample_set_add(set, (struct sample){
				    .series = sample_set_series(set, STR("t"), labels, 5),
				    .stack = sample_set_stack(set, &index, 1),
				    .labels = sample_set_labels(set, labels),
				    .value = 5,
				    .time_ms = address,
			    });
}

static void merging_copies_all_strings(void **state)
{
	AUTO_ARENA into_arena = { 0 };
	struct sample_set into;

	(void)state;
	sample_set_init(&into, &into_arena);
	for (int round = 0; round < 2; round++) {
		AUTO_ARENA arena = { 0 };
		struct sample_set from;
		char name[] = "redis";

		sample_set_init(&from, &arena);
		fill(&from, name, 40);
		sample_set_merge(&into, &from, NULL);
		memset(name, '?', sizeof(name) - 1);
	}
	assert_int_equal(into.samples.len, 2);
	assert_int_equal(into.frames.len, 1);
	assert_int_equal(into.series.len, 1);
	assert_int_equal(into.stacks.len, 2);
	assert_int_equal(into.label_sets.len, 2);
	assert_true(str_eq(into.frames.items[0].path, STR("redis")));
	assert_true(str_eq(labels_get(into.series.items[0].labels, STR("comm")), STR("redis")));
	assert_true(str_eq(labels_get(into.label_sets.items[1], STR("comm")), STR("redis")));
	assert_int_equal(into.series.items[0].id,
			 series_id(STR("t"), into.series.items[0].labels, &into_arena));
}

static bool keep_late_without_labels(void *self, const struct sample_set *from,
				     struct sample *sample)
{
	(void)from;
	sample->labels = 0;
	return sample->time_ms >= *(uint64_t *)self;
}

static void a_filter_skips_and_changes_samples(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set from, into;
	uint64_t from_ms = 50;
	struct sample_filter filter = { keep_late_without_labels, &from_ms };
	char name[] = "x";

	(void)state;
	sample_set_init(&from, &arena);
	sample_set_init(&into, &arena);
	fill(&from, name, 40);
	fill(&from, name, 60);
	sample_set_merge(&into, &from, &filter);
	assert_int_equal(into.samples.len, 1);
	assert_int_equal(into.samples.items[0].time_ms, 60);
	assert_int_equal(into.samples.items[0].labels, 0);
	assert_int_equal(into.label_sets.len, 1);
	assert_int_equal(into.frames.len, 1);
}

RUN_TESTS(TEST(equal_items_get_one_index), TEST(finds_every_item_after_growing),
	  TEST(merging_copies_all_strings), TEST(a_filter_skips_and_changes_samples))
