// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "client/kafka_close.h"
#include "client/kafka_consumer.h"
#include "support/mock_kafka.h"
#include "support/side_by_side.h"

#include <stdio.h>

enum { MOCK_FETCH = 1, MOCK_HEARTBEAT = 12 }; /* ApiKey */
enum { PARTITIONS = 4, TRIES = 300, TRY_MS = 100 };

/* The mock waits 3 s for the first members of a group, and this time minus a second for all members
 * to rejoin. */
enum { SESSION_MS = 3000 };

/* Start offsets, and what the consumer received. */
struct owner {
	int64_t begin[PARTITIONS]; /* an offset, or KAFKA_FROM_BEGINNING */
	size_t assigned, revoked;  /* number of calls */
	size_t count;              /* assigned partitions */
	size_t read[PARTITIONS];   /* records since the last assignment */
	int64_t first[PARTITIONS]; /* offset of the first of them */
};

static bool on_assigned(void *self, struct kafka_position *positions, size_t count)
{
	struct owner *owner = self;

	memset(owner->read, 0, sizeof(owner->read));
	owner->assigned++;
	owner->count = count;
	for (size_t i = 0; i < count; i++)
		positions[i].offset = owner->begin[positions[i].partition];
	return true;
}

static void on_revoked(void *self)
{
	struct owner *owner = self;

	owner->revoked++;
	owner->count = 0;
}

static void open_consumer(struct kafka_consumer *consumer, const struct mock_kafka *mock,
			  struct owner *owner)
{
	struct err err;

	assert_true(kafka_consumer_open(consumer,
					&(struct kafka_consumer_options){
						.brokers = mock->brokers,
						.topic = "t",
						.group = "g",
						.client_id = "test",
						.session_ms = SESSION_MS,
						.assigned = on_assigned,
						.revoked = on_revoked,
						.self = owner,
					},
					&err));
}

/* Produce `count` records to each partition. */
static void fill(const struct mock_kafka *mock, int count)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256], value[] = "value";

	rd_kafka_conf_set(conf, "bootstrap.servers", mock->brokers, why, sizeof(why));

	rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));

	for (int i = 0; i < count * PARTITIONS; i++)
		assert_int_equal(rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("t"),
						   RD_KAFKA_V_PARTITION(i % PARTITIONS),
						   RD_KAFKA_V_VALUE(value, 5), RD_KAFKA_V_END),
				 0);
	assert_int_equal(rd_kafka_flush(producer, 30000), 0);
	rd_kafka_destroy(producer);
}

/* Poll once; true if a partition is out of range. */
static bool step(struct kafka_consumer *consumer, struct owner *owner)
{
	struct kafka_record record;
	struct err err;
	enum kafka_event event = kafka_consumer_poll(consumer, TRY_MS, &record, &err);

	if (event == KAFKA_RECORD) {
		if (owner->read[record.partition]++ == 0)
			owner->first[record.partition] = record.offset;
		kafka_record_done(&record);
	}
	return event == KAFKA_OUT_OF_RANGE;
}

static size_t read_of_all(const struct owner *owner)
{
	size_t records = 0;

	for (size_t i = 0; i < PARTITIONS; i++)
		records += owner->read[i];
	return records;
}

static void read_until(struct kafka_consumer *consumer, struct owner *owner, size_t records)
{
	for (int i = 0; i < TRIES && read_of_all(owner) < records; i++)
		step(consumer, owner);
	assert_int_equal(read_of_all(owner), records);
}

static void starts_and_restarts_at_the_offsets_of_the_caller(void **state)
{
	struct owner owner = { .begin = { KAFKA_FROM_BEGINNING, 2, 0, 5 } };
	struct kafka_consumer consumer = { 0 };
	struct mock_kafka mock;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 5);
	open_consumer(&consumer, &mock, &owner);

	read_until(&consumer, &owner, 5 + 3 + 5 + 0);
	assert_int_equal(owner.first[1], 2);

	owner.begin[0] = 4;
	owner.begin[3] = 1;
	assert_true(kafka_consumer_restart(&consumer, false, &err));
	assert_int_equal(owner.assigned, 2);
	read_until(&consumer, &owner, 1 + 3 + 5 + 4);
	assert_int_equal(owner.first[0], 4);
	assert_int_equal(owner.first[3], 1);
	kafka_consumer_close(&consumer);
	assert_int_equal(owner.count, 0);
	assert_int_equal(owner.revoked, owner.assigned);
	mock_kafka_close(&mock);
}

/* Replace the mark of a partition; removing the topic removes it. The group accepts a commit only
 * of its member. */
static void replace_mark(struct kafka_consumer *consumer)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, "t", 2);

	item->metadata = strdup("another");
	item->metadata_size = strlen("another");
	item->offset = 0;
	assert_int_equal(rd_kafka_commit(consumer->kafka, list, 0), 0);
	rd_kafka_topic_partition_list_destroy(list);
}

static void notices_that_its_mark_is_missing(void **state)
{
	struct owner owner = { .begin = { KAFKA_FROM_BEGINNING, 2, 0, 5 } };
	struct kafka_consumer consumer = { 0 };
	struct mock_kafka mock;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 5);
	assert_int_equal(kafka_consumer_check_topic(&consumer), KAFKA_TOPIC_UNKNOWN);
	open_consumer(&consumer, &mock, &owner);
	assert_int_equal(kafka_consumer_check_topic(&consumer), KAFKA_TOPIC_UNKNOWN);
	read_until(&consumer, &owner, 5 + 3 + 5 + 0);
	assert_int_equal(kafka_consumer_check_topic(&consumer), KAFKA_TOPIC_SAME);

	replace_mark(&consumer);
	assert_int_equal(kafka_consumer_check_topic(&consumer), KAFKA_TOPIC_REPLACED);
	assert_true(kafka_consumer_restart(&consumer, false, &err));
	assert_int_equal(kafka_consumer_check_topic(&consumer), KAFKA_TOPIC_SAME);

	rd_kafka_mock_broker_set_down(mock.cluster, MOCK_BROKER);
	assert_int_equal(kafka_consumer_check_topic(&consumer), KAFKA_TOPIC_UNKNOWN);
	kafka_consumer_close(&consumer);
	mock_kafka_close(&mock);
}

static void reports_the_end_of_each_partition(void **state)
{
	struct owner owner = { .begin = { KAFKA_FROM_BEGINNING, 2, 5, 0 } };
	struct kafka_consumer consumer = { 0 };
	int64_t ends[PARTITIONS] = { 0 };
	struct kafka_record record;
	struct mock_kafka mock;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 5);
	open_consumer(&consumer, &mock, &owner);
	for (int i = 0; i < TRIES && (!ends[0] || !ends[1] || !ends[2] || !ends[3]); i++) {
		enum kafka_event event = kafka_consumer_poll(&consumer, TRY_MS, &record, &err);

		if (event == KAFKA_END)
			ends[record.partition] = record.offset;
		if (event == KAFKA_RECORD)
			kafka_record_done(&record);
	}
	for (size_t i = 0; i < PARTITIONS; i++)
		assert_int_equal(ends[i], 5);
	kafka_consumer_close(&consumer);
	mock_kafka_close(&mock);
}

static void seeks_one_partition_and_no_other(void **state)
{
	struct owner owner = { .begin = { 3, 3, 3, 3 } };
	struct kafka_consumer consumer = { 0 };
	struct kafka_position position = { .partition = 1, .offset = 1 };
	struct mock_kafka mock;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 5);
	open_consumer(&consumer, &mock, &owner);
	read_until(&consumer, &owner, 4 * 2);

	assert_true(kafka_consumer_seek(&consumer, &position, &err));
	owner.read[1] = 0;
	read_until(&consumer, &owner, 4 * 2 + 2);
	assert_int_equal(owner.first[1], 1);
	assert_int_equal(owner.read[1], 4);
	assert_int_equal(owner.assigned, 1);

	position.partition = PARTITIONS; /* not assigned */
	assert_false(kafka_consumer_seek(&consumer, &position, &err));
	assert_int_equal(err.code, ERR_IO);
	kafka_consumer_close(&consumer);
	assert_false(kafka_consumer_seek(&consumer, &position, &err));
	mock_kafka_close(&mock);
}

/* librdkafka rejects the session timeout when the client is opened again. */
static void a_consumer_that_a_failed_restart_closed_fails_until_it_can_open(void **state)
{
	struct owner owner = { 0 };
	struct kafka_consumer consumer = { 0 };
	struct kafka_position position = { .partition = 0, .offset = 7 };
	struct kafka_record record;
	struct mock_kafka mock;
	int64_t first, last;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 1);
	open_consumer(&consumer, &mock, &owner);
	read_until(&consumer, &owner, 4);

	consumer.options.session_ms = UINT64_C(1000000000000);
	assert_false(kafka_consumer_restart(&consumer, true, &err));
	assert_int_equal(owner.revoked, 1);
	assert_int_equal(kafka_consumer_poll(&consumer, 1, &record, &err), KAFKA_ERROR);
	assert_false(kafka_consumer_pause(&consumer, true, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(kafka_consumer_query_range(&consumer, 0, &first, &last, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_int_equal(kafka_consumer_end(&consumer, 0), -1);
	kafka_consumer_query_ends(&consumer, &position, 1);
	assert_int_equal(position.offset, 7);

	consumer.options.session_ms = SESSION_MS;
	for (int i = 0; i < TRIES && owner.assigned < 2; i++)
		step(&consumer, &owner);
	read_until(&consumer, &owner, 4);
	kafka_consumer_close(&consumer);
	assert_int_equal(owner.revoked, 2);
	mock_kafka_close(&mock);
}

static void a_restart_resumes_paused_partitions(void **state)
{
	struct owner owner = { 0 };
	struct kafka_consumer consumer = { 0 };
	struct mock_kafka mock;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	open_consumer(&consumer, &mock, &owner);
	fill(&mock, 3);
	read_until(&consumer, &owner, 12);

	assert_true(kafka_consumer_pause(&consumer, true, &err));
	fill(&mock, 2);
	for (int i = 0; i < 10; i++)
		step(&consumer, &owner);
	assert_int_equal(read_of_all(&owner), 12);

	assert_true(kafka_consumer_restart(&consumer, false, &err));
	read_until(&consumer, &owner, 20);
	kafka_consumer_close(&consumer);
	mock_kafka_close(&mock);
}

/* As when a member joins or leaves: all partitions are revoked and assigned again. */
static void a_new_assignment_resumes_paused_partitions(void **state)
{
	struct owner owner = { 0 };
	struct kafka_consumer consumer = { 0 };
	struct mock_kafka mock;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 3);
	open_consumer(&consumer, &mock, &owner);
	read_until(&consumer, &owner, 12);
	assert_true(kafka_consumer_pause(&consumer, true, &err));
	rd_kafka_mock_push_request_errors(mock.cluster, MOCK_HEARTBEAT, 1,
					  RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);

	for (int i = 0; i < TRIES && owner.assigned < 2; i++)
		step(&consumer, &owner);
	assert_int_equal(owner.assigned, 2);
	read_until(&consumer, &owner, 12);
	kafka_consumer_close(&consumer);
	mock_kafka_close(&mock);
}

/* librdkafka no longer reads a partition that is out of range, so a seek in it fails. */
static void a_failed_seek_rejoins_the_group(void **state)
{
	struct owner owner = { .begin = { 0, 1000, 0, 0 } };
	struct kafka_consumer consumer = { 0 };
	struct mock_kafka mock;
	bool is_out = false;
	struct err err;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 3);
	open_consumer(&consumer, &mock, &owner);
	for (int i = 0; i < TRIES && !is_out; i++)
		is_out = step(&consumer, &owner);
	assert_true(is_out);
	read_until(&consumer, &owner, 9);

	owner.begin[1] = 0;
	assert_true(kafka_consumer_restart(&consumer, false, &err));

	read_until(&consumer, &owner, 12);
	assert_true(owner.revoked >= 1);
	kafka_consumer_close(&consumer);
	mock_kafka_close(&mock);
}

static void closing_does_not_wait_for_an_unreachable_kafka(void **state)
{
	struct owner owner = { 0 };
	struct kafka_consumer consumer = { 0 };
	struct mock_kafka mock;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 3);
	open_consumer(&consumer, &mock, &owner);
	read_until(&consumer, &owner, 12);
	rd_kafka_mock_broker_set_rtt(mock.cluster, MOCK_BROKER, 20000);

	uint64_t start_ns = clock_monotonic_ns();

	kafka_consumer_close(&consumer);

	assert_true(clock_monotonic_ns() - start_ns < 15 * NS_PER_SECOND);
	assert_int_equal(owner.count, 0);
	mock_kafka_close(&mock);
}

/* librdkafka never frees a client that read a partition which no longer exists. */
static void closing_ends_in_time_after_the_topic_was_deleted(void **state)
{
	struct owner owner = { 0 };
	struct kafka_consumer consumer = { 0 };
	struct mock_kafka mock;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 3);
	open_consumer(&consumer, &mock, &owner);
	read_until(&consumer, &owner, 12);
	rd_kafka_mock_topic_set_error(mock.cluster, "t", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	rd_kafka_mock_push_request_errors(mock.cluster, MOCK_FETCH, 1,
					  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	for (int i = 0; i < 30; i++)
		step(&consumer, &owner); /* it learns of the deletion */

	uint64_t start_ns = clock_monotonic_ns();

	kafka_consumer_close(&consumer);

	assert_true(clock_monotonic_ns() - start_ns < 30 * NS_PER_SECOND);
	assert_int_equal(owner.count, 0);
	assert_true(kafka_clients_left() <= 1); /* 1 with librdkafka 2.0.2, whose fault it is */
	mock_kafka_close(&mock);
}

/* Closed with records that were fetched but not read. */
static void closes_with_unread_messages(void **state)
{
	struct owner owner = { 0 };
	struct kafka_consumer consumer = { 0 };
	struct mock_kafka mock;

	(void)state;
	mock_kafka_open(&mock, "t");
	fill(&mock, 200);
	open_consumer(&consumer, &mock, &owner);
	read_until(&consumer, &owner, 1);
	clock_sleep_ms(500);

	kafka_consumer_close(&consumer);

	assert_int_equal(owner.count, 0);
	mock_kafka_close(&mock);
}

RUN_SIDE_BY_SIDE(TEST(starts_and_restarts_at_the_offsets_of_the_caller),
		 TEST(notices_that_its_mark_is_missing), TEST(reports_the_end_of_each_partition),
		 TEST(seeks_one_partition_and_no_other),
		 TEST(a_consumer_that_a_failed_restart_closed_fails_until_it_can_open),
		 TEST(a_restart_resumes_paused_partitions),
		 TEST(a_new_assignment_resumes_paused_partitions),
		 TEST(a_failed_seek_rejoins_the_group),
		 TEST(closing_does_not_wait_for_an_unreachable_kafka),
		 TEST(closing_ends_in_time_after_the_topic_was_deleted),
		 TEST(closes_with_unread_messages))
