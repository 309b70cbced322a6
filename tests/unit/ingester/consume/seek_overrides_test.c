// SPDX-License-Identifier: Apache-2.0
/*
 * Where partitions start whose stored offset is not one of the topic.
 */
#include "ingester/consume/seek_overrides_internal.h"
#include "support/test.h"

static struct store_offset row(int32_t partition, int64_t next, int64_t timestamp_ms)
{
	return (struct store_offset){ .partition = partition,
				      .next = next,
				      .last_timestamp_ms = timestamp_ms };
}

static int64_t find(struct seek_overrides *overrides, int32_t partition, int64_t next,
		    int64_t timestamp_ms)
{
	struct store_offset stored = row(partition, next, timestamp_ms);

	return seek_overrides_find(overrides, &stored);
}

/* Of 100 partitions, each with its own: 10 * partition + 5 is replaced by the partition's number.
 */
static void fill(struct seek_overrides *overrides)
{
	for (int32_t partition = 0; partition < 100; partition++) {
		struct store_offset stored = row(partition, 10 * partition + 5, 7);

		seek_overrides_set(overrides, &stored, partition);
	}
}

static void each_partition_keeps_its_own_for_all_restarts(void **state)
{
	struct seek_overrides overrides = { 0 };

	(void)state;
	fill(&overrides);
	for (int restart = 0; restart < 3; restart++)
		for (int32_t partition = 0; partition < 100; partition++)
			assert_int_equal(find(&overrides, partition, 10 * partition + 5, 7),
					 partition);
	assert_int_equal(find(&overrides, 100, 5, 7), -1);
	seek_overrides_done(&overrides);
}

static void ends_when_an_offset_was_stored(void **state)
{
	struct seek_overrides overrides = { 0 };

	(void)state;
	fill(&overrides);
	seek_overrides_remove(&overrides, 3);
	seek_overrides_remove(&overrides, 3);
	assert_int_equal(find(&overrides, 3, 35, 7), -1);
	assert_int_equal(find(&overrides, 2, 25, 7), 2);
	assert_int_equal(find(&overrides, 99, 995, 7), 99);
	seek_overrides_done(&overrides);
}

/* Else the messages that the other ingester has stored would be read and counted again. */
static void ends_when_another_ingester_has_stored_an_offset(void **state)
{
	static const struct {
		int64_t next, timestamp_ms;
	} others[] = { { 36, 7 }, { 34, 7 }, { 35, 8 }, { 35, -1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct seek_overrides overrides = { 0 };

		fill(&overrides);
		assert_int_equal(find(&overrides, 3, others[i].next, others[i].timestamp_ms), -1);
		assert_int_equal(find(&overrides, 3, 35, 7), -1); /* nor does it come back */
		assert_int_equal(find(&overrides, 4, 45, 7), 4);
		seek_overrides_done(&overrides);
	}
}

static void the_last_one_of_a_partition_replaces_the_others(void **state)
{
	struct seek_overrides overrides = { 0 };
	struct store_offset stored = row(3, 35, 7);

	(void)state;
	seek_overrides_done(&overrides); /* an empty one is accepted */
	fill(&overrides);
	seek_overrides_set(&overrides, &stored, 20);
	assert_int_equal(find(&overrides, 3, 35, 7), 20);
	seek_overrides_remove(&overrides, 3);
	assert_int_equal(find(&overrides, 3, 35, 7), -1);
	seek_overrides_done(&overrides);
}

RUN_TESTS(TEST(each_partition_keeps_its_own_for_all_restarts), TEST(ends_when_an_offset_was_stored),
	  TEST(ends_when_another_ingester_has_stored_an_offset),
	  TEST(the_last_one_of_a_partition_replaces_the_others))
