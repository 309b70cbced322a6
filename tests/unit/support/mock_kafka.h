// SPDX-License-Identifier: Apache-2.0
/*
 * mock_kafka - a Kafka cluster in this process (librdkafka's mock), for tests of the clients.
 *
 * It keeps messages in memory, implements the protocol, and returns errors on demand.
 */
#pragma once

#include "base/base.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

struct mock_kafka {
	rd_kafka_t *kafka;
	rd_kafka_mock_cluster_t *cluster;
	const char *brokers;
};

enum { MOCK_PRODUCE = 0, MOCK_BROKER = 1 }; /* ApiKey of Produce; the only broker's id */

static inline void mock_kafka_open(struct mock_kafka *mock, const char *topic)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256];

	mock->kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
	mock->cluster = rd_kafka_mock_cluster_new(mock->kafka, 1);
	mock->brokers = rd_kafka_mock_cluster_bootstraps(mock->cluster);
	rd_kafka_mock_topic_create(mock->cluster, topic, 4, 1);
}

static inline void mock_kafka_close(struct mock_kafka *mock)
{
	rd_kafka_mock_cluster_destroy(mock->cluster);
	rd_kafka_destroy(mock->kafka);
}

/* A consumer that reads every partition of the topic from its beginning. */
static inline rd_kafka_t *mock_kafka_consumer(struct mock_kafka *mock, const char *topic)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(4);
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256];

	rd_kafka_conf_set(conf, "bootstrap.servers", mock->brokers, why, sizeof(why));
	rd_kafka_conf_set(conf, "group.id", "test", why, sizeof(why));
	rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));

	for (int partition = 0; partition < 4; partition++)
		rd_kafka_topic_partition_list_add(list, topic, partition)->offset =
			RD_KAFKA_OFFSET_BEGINNING;
	rd_kafka_poll_set_consumer(consumer);
	rd_kafka_assign(consumer, list);
	rd_kafka_topic_partition_list_destroy(list);
	return consumer;
}

/* The next message; aborts the test after ten seconds without one. */
static inline rd_kafka_message_t *mock_kafka_consume(rd_kafka_t *consumer)
{
	for (int tries = 0; tries < 100; tries++) {
		rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, 100);

		if (message && !message->err)
			return message;
		if (message)
			rd_kafka_message_destroy(message);
	}
	abort();
}

static inline void mock_kafka_consumer_close(rd_kafka_t *consumer)
{
	rd_kafka_consumer_close(consumer);
	rd_kafka_destroy(consumer);
}
