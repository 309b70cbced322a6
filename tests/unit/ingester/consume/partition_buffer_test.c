// SPDX-License-Identifier: Apache-2.0
/*
 * A partition's position and samples between the last flush and the last message read.
 */
#include "ingester/consume/partition_buffer_internal.h"
#include "support/test.h"

static struct store_offset offset_at(int64_t next, const char *key, int64_t timestamp_ms)
{
	return (struct store_offset){ .partition = 2,
				      .next = next,
				      .last_key = str_from(key),
				      .last_timestamp_ms = timestamp_ms };
}

static struct kafka_record record_at(int64_t offset, str key, int64_t timestamp_ms)
{
	return (struct kafka_record){ .offset = offset, .key = key, .timestamp_ms = timestamp_ms };
}

static void starts_at_the_remembered_message(void **state)
{
	static const struct {
		int64_t next, timestamp_ms, start;
	} rows[] = {
		{ -1, -1, KAFKA_FROM_BEGINNING }, /* never stored */
		{ 0, 7, 0 },                      /* there is no message before it */
		{ 42, 7, 41 },
		{ 42, -1, 42 }, /* without a timestamp it cannot be compared */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct store_offset offset = offset_at(rows[i].next, "k", rows[i].timestamp_ms);
		struct partition_buffer buffer;

		partition_buffer_init(&buffer, &offset);
		assert_int_equal(partition_buffer_start(&buffer), rows[i].start);
		partition_buffer_done(&buffer);
	}
}

static void recognizes_the_remembered_message_by_its_key_and_timestamp(void **state)
{
	static char longer[HOST_ID_MAX + 10];
	static const struct {
		int64_t offset;
		str key;
		int64_t timestamp_ms;
		enum partition_check check;
	} rows[] = {
		{ 41, STR("host"), 7, PARTITION_SAME },
		{ 41, STR("other"), 7, PARTITION_FOREIGN },
		{ 41, STR("host"), 8, PARTITION_FOREIGN },
		{ 42, STR("host"), 7, PARTITION_BEYOND },
		{ 50, STR("x"), 9, PARTITION_BEYOND },
	};
	struct store_offset offset = offset_at(42, "host", 7);
	struct partition_buffer buffer;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kafka_record record =
			record_at(rows[i].offset, rows[i].key, rows[i].timestamp_ms);

		partition_buffer_init(&buffer, &offset);
		assert_int_equal(partition_buffer_check(&buffer, &record), rows[i].check);
		assert_false(buffer.must_check);
		partition_buffer_done(&buffer);
	}

	/* Only the first bytes of a longer key are stored and compared. */
	memset(longer, 'k', sizeof(longer));
	partition_buffer_init(&buffer, &offset);

	struct kafka_record record = record_at(42, (str){ longer, sizeof(longer) }, 9);

	partition_buffer_advance(&buffer, &record);
	partition_buffer_stored(&buffer);
	assert_int_equal(partition_buffer_check(&buffer, &record), PARTITION_SAME);
	partition_buffer_done(&buffer);
}

static void advances_with_each_message_and_is_empty_when_they_are_stored(void **state)
{
	struct store_offset offset = offset_at(5, "a", 100);
	struct kafka_record records[] = { record_at(5, STR("b"), 300), record_at(6, STR("c"), -1),
					  record_at(7, STR("d"), 200) };
	struct partition_buffer buffer;

	(void)state;
	partition_buffer_init(&buffer, &offset);
	assert_false(buffer.is_dirty);
	for (size_t i = 0; i < ARRAY_LEN(records); i++)
		partition_buffer_advance(&buffer, &records[i]);
	assert_true(buffer.is_dirty);
	assert_int_equal(buffer.messages, 3);
	assert_int_equal(buffer.oldest_ms, 200);
	assert_true(buffer.from.next == 5 && buffer.to.next == 8);
	assert_true(str_eq(buffer.to.last_key, STR("d")) && buffer.to.last_timestamp_ms == 200);

	partition_buffer_stored(&buffer);
	assert_false(buffer.is_dirty);
	assert_true(buffer.messages == 0 && buffer.oldest_ms == INT64_MAX);
	assert_true(buffer.from.next == 8 && str_eq(buffer.from.last_key, STR("d")));
	partition_buffer_done(&buffer);
}

static void knows_a_message_that_is_delivered_again(void **state)
{
	struct store_offset none = { .next = -1, .last_timestamp_ms = -1 };
	struct store_offset offset = offset_at(5, "a", 100);
	struct kafka_record records[] = { record_at(4, STR("a"), 100), record_at(5, STR("b"), 300),
					  record_at(7, STR("c"), 400) };
	struct partition_buffer buffer;

	(void)state;
	partition_buffer_init(&buffer, &offset);
	assert_false(partition_buffer_is_past(&buffer, &records[0])); /* to be checked */
	assert_int_equal(partition_buffer_check(&buffer, &records[0]), PARTITION_SAME);
	assert_true(partition_buffer_is_past(&buffer, &records[0]));
	assert_false(partition_buffer_is_past(&buffer, &records[1]));
	partition_buffer_advance(&buffer, &records[1]);
	assert_true(partition_buffer_is_past(&buffer, &records[1]));
	partition_buffer_stored(&buffer);
	assert_true(partition_buffer_is_past(&buffer, &records[1]));
	assert_false(partition_buffer_is_past(&buffer, &records[2])); /* a gap is none */
	partition_buffer_done(&buffer);

	partition_buffer_init(&buffer, &none);
	assert_false(partition_buffer_is_past(&buffer, &records[0]));
	partition_buffer_advance(&buffer, &records[2]);
	assert_true(partition_buffer_is_past(&buffer, &records[0]));
	partition_buffer_done(&buffer);
}

static void skips_to_another_offset(void **state)
{
	struct store_offset offset = offset_at(5, "a", 100);
	struct partition_buffer buffer;

	(void)state;
	partition_buffer_init(&buffer, &offset);
	partition_buffer_skip_to(&buffer, 90);
	assert_int_equal(partition_buffer_start(&buffer), 90);
	assert_true(buffer.is_dirty && !buffer.must_check);
	assert_true(buffer.from.next == 5); /* the fence is the row in the table */
	assert_true(buffer.to.last_key.len == 0 && buffer.to.last_timestamp_ms == -1);
	partition_buffer_done(&buffer);
}

static void holds_samples_and_hosts_until_they_are_stored(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct store_offset offset = offset_at(0, "", -1);
	struct store_host host, other;
	struct partition_buffer buffer;

	(void)state;
	sample_set_init(&set, &arena);

	uint32_t stack = sample_set_stack(&set, NULL, 0);
	uint32_t labels = sample_set_labels(&set, (struct labels){ 0 });
	uint32_t series = sample_set_series(
		&set, STR("process_cpu:cpu:nanoseconds:cpu:nanoseconds"), (struct labels){ 0 }, 1);

	for (uint64_t time_ms = 1000; time_ms <= 3000; time_ms += 1000)
		sample_set_add(&set, (struct sample){ .series = series,
						      .labels = labels,
						      .stack = stack,
						      .time_ms = time_ms,
						      .value = 1 });
	partition_buffer_init(&buffer, &offset);
	partition_buffer_add_samples(&buffer, &set);
	partition_buffer_add_samples(&buffer, &set);
	partition_buffer_add_host(&buffer, &host);
	partition_buffer_add_host(&buffer, &other);
	partition_buffer_add_host(&buffer, &host);
	assert_int_equal(buffer.samples.samples.len, 6);
	assert_int_equal(buffer.sampled_ms, 3000); /* the newest of the message */
	assert_int_equal(buffer.hosts.len, 2);
	partition_buffer_stored(&buffer);
	assert_int_equal(buffer.samples.samples.len, 0);
	assert_int_equal(buffer.hosts.len, 0);
	assert_int_equal(buffer.sampled_ms, INT64_MAX);
	partition_buffer_done(&buffer);
}

RUN_TESTS(TEST(starts_at_the_remembered_message),
	  TEST(recognizes_the_remembered_message_by_its_key_and_timestamp),
	  TEST(advances_with_each_message_and_is_empty_when_they_are_stored),
	  TEST(knows_a_message_that_is_delivered_again), TEST(skips_to_another_offset),
	  TEST(holds_samples_and_hosts_until_they_are_stored))
