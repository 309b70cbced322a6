// SPDX-License-Identifier: Apache-2.0
#include "client/kafka_topic.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "client/kafka_close.h"
#include "client/kafka_log.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>

enum { CREATE_TIMEOUT_MS = 15000, POLL_MS = 200 };

static void client_close(rd_kafka_t *kafka)
{
	kafka_close(kafka, 0);
}

DEFINE_CLEANUP(rd_kafka_t *, client_close)
DEFINE_CLEANUP(rd_kafka_queue_t *, rd_kafka_queue_destroy)
DEFINE_CLEANUP(rd_kafka_event_t *, rd_kafka_event_destroy)
DEFINE_CLEANUP(rd_kafka_NewTopic_t *, rd_kafka_NewTopic_destroy)
DEFINE_CLEANUP(rd_kafka_AdminOptions_t *, rd_kafka_AdminOptions_destroy)

static rd_kafka_t *client_new(const char *brokers, struct err *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[KAFKA_TEXT_MAX];

	rd_kafka_conf_set_log_cb(conf, kafka_log);
	if (!kafka_conf_set(conf, "bootstrap.servers", brokers, err)) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}

	rd_kafka_t *kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));

	if (!kafka) {
		rd_kafka_conf_destroy(conf);
		err_set(err, ERR_IO, "create a Kafka client: %s", why);
	}
	return kafka;
}

static rd_kafka_NewTopic_t *new_topic(const struct kafka_topic *topic, struct err *err)
{
	char why[KAFKA_TEXT_MAX], number[24];
	rd_kafka_NewTopic_t *wanted =
		rd_kafka_NewTopic_new(topic->name, (int)topic->partitions,
				      (int)topic->replication_factor, why, sizeof(why));

	if (!wanted) {
		err_set(err, ERR_INVALID, "topic %s: %s", topic->name, why);
		return NULL;
	}
	if (topic->retention_ms) {
		snprintf(number, sizeof(number), "%" PRIu64, topic->retention_ms);
		rd_kafka_NewTopic_set_config(wanted, "retention.ms", number);
	}
	return wanted;
}

/* Evaluate the broker's result for the one topic. */
static bool check_result(rd_kafka_event_t *event, const struct kafka_topic *topic, struct err *err)
{
	const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
	size_t count = 0;
	const rd_kafka_topic_result_t **topics =
		result ? rd_kafka_CreateTopics_result_topics(result, &count) : NULL;

	if (rd_kafka_event_error(event))
		return err_set(err, ERR_IO, "create Kafka topic %s: %s", topic->name,
			       rd_kafka_event_error_string(event));
	if (count != 1)
		return err_set(err, ERR_IO, "create Kafka topic %s: no response", topic->name);

	rd_kafka_resp_err_t code = rd_kafka_topic_result_error(topics[0]);

	if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
		return true;
	if (code)
		return err_set(err, ERR_IO, "create Kafka topic %s: %s", topic->name,
			       rd_kafka_topic_result_error_string(topics[0]));
	log_info("topic created", "topic=%s partitions=%" PRIu64, topic->name, topic->partitions);
	return true;
}

/* NULL: timeout, or cancelled. */
static rd_kafka_event_t *wait_for_event(rd_kafka_queue_t *queue, const struct cancel *cancel)
{
	uint64_t deadline_ns = clock_monotonic_ns() + CREATE_TIMEOUT_MS * NS_PER_MS;
	rd_kafka_event_t *event = NULL;

	while (!event && clock_monotonic_ns() < deadline_ns && !cancel_requested(cancel)) {
		liveness_advance();
		event = rd_kafka_queue_poll(queue, POLL_MS);
	}
	return event;
}

bool kafka_topic_ensure(const char *brokers, const struct kafka_topic *topic,
			const struct cancel *cancel, struct err *err)
{
	char why[KAFKA_TEXT_MAX];
	CLEANUP(client_closep) rd_kafka_t *kafka = client_new(brokers, err);

	if (!kafka)
		return false;

	CLEANUP(rd_kafka_NewTopic_destroyp) rd_kafka_NewTopic_t *wanted = new_topic(topic, err);

	if (!wanted)
		return false;

	CLEANUP(rd_kafka_queue_destroyp) rd_kafka_queue_t *queue = rd_kafka_queue_new(kafka);
	CLEANUP(rd_kafka_AdminOptions_destroyp)
	rd_kafka_AdminOptions_t *options =
		rd_kafka_AdminOptions_new(kafka, RD_KAFKA_ADMIN_OP_CREATETOPICS);

	if (rd_kafka_AdminOptions_set_request_timeout(options, CREATE_TIMEOUT_MS, why, sizeof(why)))
		return err_set(err, ERR_IO, "create Kafka topic %s: %s", topic->name, why);
	rd_kafka_CreateTopics(kafka, &wanted, 1, options, queue);

	CLEANUP(rd_kafka_event_destroyp)
	rd_kafka_event_t *event = wait_for_event(queue, cancel);

	if (!event)
		return err_set(err, ERR_IO, "create Kafka topic %s: no response from Kafka at %s",
			       topic->name, brokers);
	return check_result(event, topic, err);
}
