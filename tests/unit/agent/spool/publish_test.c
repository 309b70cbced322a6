// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/publish.h"
#include "base/clock.h"
#include "support/mock_kafka.h"
#include "support/scratch.h"
#include "support/side_by_side.h"

#include <inttypes.h>
#include <stdio.h>

struct fixture {
	struct scratch scratch;
	struct spool spool;
	struct mock_kafka mock;
	struct publish publish;
};

static void fixture_open(struct fixture *f)
{
	struct err err;

	f->scratch = scratch_make();
	assert_true(spool_open(&f->spool,
			       &(struct spool_options){ .state_directory = f->scratch.path,
							.node = "n",
							.max_bytes = 1 << 20 },
			       &err));
	mock_kafka_open(&f->mock, "otlp_profiles");
}

static void fixture_close(struct fixture *f)
{
	publish_stop(&f->publish, 0);
	mock_kafka_close(&f->mock);
	spool_close(&f->spool);
	scratch_remove(&f->scratch);
}

static void start(struct fixture *f)
{
	struct err err;

	assert_true(publish_start(&f->publish, &f->spool,
				  &(struct publish_options){ .brokers = f->mock.brokers }, &err));
}

static void put(struct fixture *f, const char *value)
{
	struct err err;

	assert_true(spool_put(&f->spool, str_from(value), STR("status"), 1, &err));
}

static bool spool_empties(struct fixture *f)
{
	for (int tries = 0; tries < 200; tries++) {
		if (spool_level_get(&f->spool).batches == 0)
			return true;
		clock_sleep_ms(50);
	}
	return false;
}

/* The text of a header, in a static buffer. */
static const char *header(rd_kafka_message_t *message, const char *name)
{
	static char room[64];
	rd_kafka_headers_t *headers;
	const void *value;
	size_t len;

	if (rd_kafka_message_headers(message, &headers) ||
	    rd_kafka_header_get_last(headers, name, &value, &len))
		return "";
	snprintf(room, sizeof(room), "%.*s", (int)len, (const char *)value);
	return room;
}

static void sends_old_and_live_batches_in_order_with_their_numbers(void **state)
{
	struct fixture f = { 0 };
	char epoch[24];

	(void)state;
	fixture_open(&f);
	put(&f, "one");
	put(&f, "two");
	start(&f);
	put(&f, "three");
	assert_true(spool_empties(&f));
	snprintf(epoch, sizeof(epoch), "%" PRIu64, f.spool.epoch);

	rd_kafka_t *consumer = mock_kafka_consumer(&f.mock, "otlp_profiles");

	for (int i = 0; i < 3; i++) {
		static const char *const values[] = { "one", "two", "three" };
		static const char *const numbers[] = { "1", "2", "3" };
		rd_kafka_message_t *message = mock_kafka_consume(consumer);

		assert_memory_equal(message->payload, values[i], strlen(values[i]));
		assert_memory_equal(message->key, f.spool.host_id.ptr, f.spool.host_id.len);
		assert_string_equal(header(message, "decima-seq"), numbers[i]);
		assert_string_equal(header(message, "decima-epoch"), epoch);
		assert_string_equal(header(message, "decima-status"), "status");
		rd_kafka_message_destroy(message);
	}
	mock_kafka_consumer_close(consumer);
	fixture_close(&f);
}

static void waits_for_kafka_and_stops_in_time_without_it(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	fixture_open(&f);
	rd_kafka_mock_broker_set_down(f.mock.cluster, MOCK_BROKER);
	put(&f, "one");
	start(&f);
	clock_sleep_ms(300);

	uint64_t start_ns = clock_monotonic_ns();

	publish_stop(&f.publish, 200);
	assert_true(clock_monotonic_ns() - start_ns < 3 * NS_PER_SECOND);
	assert_int_equal(spool_level_get(&f.spool).batches, 1);

	rd_kafka_mock_broker_set_up(f.mock.cluster, MOCK_BROKER);
	start(&f);
	assert_true(spool_empties(&f));
	fixture_close(&f);
}

static void a_batch_that_kafka_rejects_is_counted_and_the_next_one_is_sent(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	fixture_open(&f);
	rd_kafka_mock_push_request_errors(f.mock.cluster, MOCK_PRODUCE, 1,
					  RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
	put(&f, "one");
	start(&f);
	for (int tries = 0; tries < 100 && spool_level_get(&f.spool).batches == 1; tries++) {
		clock_sleep_ms(50);
		if (tries == 20)
			put(&f, "two");
	}
	put(&f, "three");
	assert_true(spool_empties(&f));
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_REFUSED], 1);
	fixture_close(&f);
}

static void a_failed_send_is_retried(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	fixture_open(&f);
	rd_kafka_mock_push_request_errors(f.mock.cluster, MOCK_PRODUCE, 2,
					  RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
					  RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
	put(&f, "one");
	start(&f);
	assert_true(spool_empties(&f));
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_REFUSED], 0);
	fixture_close(&f);
}

/* A fleet must not overload a Kafka that comes back. */
static void a_spool_is_sent_no_faster_than_the_bound_and_live_batches_wait_behind(void **state)
{
	enum { RATE = 50000, BATCH = 10000, COUNT = 16 };
	struct fixture f = { 0 };
	char value[BATCH + 1];
	struct err err;

	(void)state;
	memset(value, 'x', BATCH);
	value[BATCH] = 0;
	fixture_open(&f);
	for (int i = 0; i < COUNT; i++)
		put(&f, value);

	uint64_t start_ns = clock_monotonic_ns();

	assert_true(publish_start(
		&f.publish, &f.spool,
		&(struct publish_options){ .brokers = f.mock.brokers, .max_rate = RATE }, &err));
	put(&f, "live");
	assert_true(spool_empties(&f));

	/* All bytes but those sent at once, of one second and one batch, are limited by the rate.
	 */
	uint64_t least_ns = (COUNT * BATCH - RATE - BATCH) * NS_PER_SECOND / RATE;

	assert_true(clock_monotonic_ns() - start_ns >= least_ns);

	rd_kafka_t *consumer = mock_kafka_consumer(&f.mock, "otlp_profiles");
	char number[24];

	for (int i = 1; i <= COUNT + 1; i++) {
		rd_kafka_message_t *message = mock_kafka_consume(consumer);

		snprintf(number, sizeof(number), "%d", i);
		assert_string_equal(header(message, "decima-seq"), number);
		rd_kafka_message_destroy(message);
	}
	mock_kafka_consumer_close(consumer);
	fixture_close(&f);
}

RUN_SIDE_BY_SIDE(TEST(sends_old_and_live_batches_in_order_with_their_numbers),
		 TEST(waits_for_kafka_and_stops_in_time_without_it),
		 TEST(a_batch_that_kafka_rejects_is_counted_and_the_next_one_is_sent),
		 TEST(a_failed_send_is_retried),
		 TEST(a_spool_is_sent_no_faster_than_the_bound_and_live_batches_wait_behind))
