// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "client/kafka_producer.h"
#include "support/mock_kafka.h"
#include "support/test.h"

struct fates {
	size_t counts[KAFKA_OUTCOME_COUNT];
	uint64_t tokens;
};

static void on_report(void *self, uint64_t token, enum kafka_outcome fate, const char *why)
{
	struct fates *fates = self;

	(void)why;
	fates->counts[fate]++;
	fates->tokens += token;
}

static void open_to(struct kafka_producer *producer, const char *brokers, struct fates *fates)
{
	struct err err;

	assert_true(kafka_producer_open(
		producer,
		&(struct kafka_producer_options){
			.brokers = brokers, .topic = "t", .report = on_report, .self = fates },
		&err));
}

static void poll_for(struct kafka_producer *producer, const size_t *count, size_t wanted)
{
	for (int tries = 0; tries < 100 && *count < wanted; tries++)
		kafka_producer_poll(producer, 100);
}

static const struct kafka_header headers[] = { { "decima-seq", { "7", 1 } } };
static const struct kafka_message message = { .key = { "host", 4 },
					      .value = { "a\0b", 3 },
					      .headers = headers,
					      .header_count = 1,
					      .token = 40 };

static void reports_a_delivery_once_with_key_value_and_headers(void **state)
{
	struct kafka_producer producer = { 0 };
	struct mock_kafka mock;
	struct fates fates = { 0 };
	struct err err;
	const void *value;
	size_t len;

	(void)state;
	mock_kafka_open(&mock, "t");
	open_to(&producer, mock.brokers, &fates);

	assert_true(kafka_producer_send(&producer, &message, &err));
	poll_for(&producer, &fates.counts[KAFKA_DELIVERED], 1);
	kafka_producer_close(&producer, 5000);

	assert_int_equal(fates.counts[KAFKA_DELIVERED], 1);
	assert_int_equal(fates.tokens, 40);

	rd_kafka_t *consumer = mock_kafka_consumer(&mock, "t");
	rd_kafka_message_t *got = mock_kafka_consume(consumer);
	rd_kafka_headers_t *got_headers;

	assert_int_equal(got->len, 3);
	assert_memory_equal(got->payload, "a\0b", 3);
	assert_int_equal(got->key_len, 4);
	assert_int_equal(rd_kafka_message_headers(got, &got_headers), 0);
	assert_int_equal(rd_kafka_header_get_last(got_headers, "decima-seq", &value, &len), 0);
	assert_int_equal(len, 1);
	rd_kafka_message_destroy(got);
	mock_kafka_consumer_close(consumer);
	mock_kafka_close(&mock);
}

static void distinguishes_rejected_from_failed_messages(void **state)
{
	struct kafka_producer producer = { 0 };
	struct mock_kafka mock;
	struct fates fates = { 0 };
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	open_to(&producer, mock.brokers, &fates);
	rd_kafka_mock_push_request_errors(mock.cluster, MOCK_PRODUCE, 1,
					  RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);

	assert_true(kafka_producer_send(&producer, &message, &err));
	poll_for(&producer, &fates.counts[KAFKA_REJECTED], 1);
	assert_true(kafka_producer_send(&producer, &message, &err));
	poll_for(&producer, &fates.counts[KAFKA_DELIVERED], 1);

	assert_int_equal(fates.counts[KAFKA_REJECTED], 1);
	assert_int_equal(fates.counts[KAFKA_DELIVERED], 1);
	kafka_producer_close(&producer, 5000);
	mock_kafka_close(&mock);
}

static void a_full_queue_is_a_limit_and_a_message_larger_than_it_is_invalid(void **state)
{
	struct kafka_producer producer = { 0 };
	struct fates fates = { 0 };
	static char large[2 << 20];
	struct err err;

	(void)state;
	assert_true(kafka_producer_open(&producer,
					&(struct kafka_producer_options){ .brokers = "127.0.0.1:1",
									  .topic = "t",
									  .queue_max_kbytes = 1024,
									  .report = on_report,
									  .self = &fates },
					&err));
	struct kafka_message big = message;

	big.value = (str){ large, sizeof(large) };
	assert_false(kafka_producer_send(&producer, &big, &err));
	assert_int_equal(err.code, ERR_INVALID);

	big.value.len = 800 << 10;
	assert_true(kafka_producer_send(&producer, &big, &err));
	assert_false(kafka_producer_send(&producer, &big, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	kafka_producer_close(&producer, 10);
}

static void closes_in_time_without_kafka_and_reports_the_remaining_messages(void **state)
{
	struct kafka_producer producer = { 0 };
	struct fates fates = { 0 };
	struct err err;

	(void)state;
	open_to(&producer, "127.0.0.1:1", &fates);
	assert_true(kafka_producer_send(&producer, &message, &err));

	uint64_t start_ns = clock_monotonic_ns();

	kafka_producer_close(&producer, 200);
	assert_true(clock_monotonic_ns() - start_ns < 3 * NS_PER_SECOND);
	assert_int_equal(fates.counts[KAFKA_FAILED], 1);
	kafka_producer_close(&producer, 200);
}

RUN_TESTS(TEST(reports_a_delivery_once_with_key_value_and_headers),
	  TEST(distinguishes_rejected_from_failed_messages),
	  TEST(a_full_queue_is_a_limit_and_a_message_larger_than_it_is_invalid),
	  TEST(closes_in_time_without_kafka_and_reports_the_remaining_messages))
