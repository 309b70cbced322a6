#include "client/kafka_consumer.h"
#include "mock_kafka.h"
#include "test.h"

enum { MESSAGES = 1000 };

struct owner {
	size_t assigned, revoked;
};

static bool on_assigned(void *self, struct kafka_position *positions, size_t count)
{
	struct owner *owner = self;

	for (size_t i = 0; i < count; i++)
		positions[i].offset = KAFKA_FROM_BEGINNING;
	owner->assigned += count;
	return true;
}

static void on_revoked(void *self)
{
	struct owner *owner = self;

	owner->revoked++;
}

static void produce_many(struct mock_kafka *mock)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256], value[] = "value";

	rd_kafka_conf_set(conf, "bootstrap.servers", mock->brokers, why, sizeof(why));

	rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));

	for (int i = 0; i < MESSAGES; i++)
		assert_int_equal(rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("t"),
						   RD_KAFKA_V_PARTITION(0),
						   RD_KAFKA_V_VALUE(value, 5), RD_KAFKA_V_END),
				 0);
	assert_int_equal(rd_kafka_flush(producer, 10000), 0);
	rd_kafka_destroy(producer);
}

/* The first message; a test that waits for half a minute in vain fails here. */
static void poll_for_a_record(struct kafka_consumer *consumer, struct kafka_record *record)
{
	struct err err;

	for (int tries = 0; tries < 300; tries++)
		if (kafka_consumer_poll(consumer, 100, record, &err) == KAFKA_RECORD)
			return;
	fail_msg("no message came");
}

static void closes_with_messages_that_nobody_has_read(void **state)
{
	struct kafka_consumer consumer = { 0 };
	struct kafka_record record = { 0 };
	struct owner owner = { 0 };
	struct mock_kafka mock;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	produce_many(&mock);
	assert_true(kafka_consumer_open(&consumer,
					&(struct kafka_consumer_options){ .brokers = mock.brokers,
									  .topic = "t",
									  .group = "g",
									  .client_id = "test",
									  .assigned = on_assigned,
									  .revoked = on_revoked,
									  .self = &owner },
					&err));
	poll_for_a_record(&consumer, &record);
	kafka_record_done(&record);

	kafka_consumer_close(&consumer);

	assert_int_equal(owner.assigned, 4);
	assert_true(owner.revoked >= 1);
	mock_kafka_close(&mock);
}

RUN_TESTS(TEST(closes_with_messages_that_nobody_has_read))
