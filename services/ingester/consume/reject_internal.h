// SPDX-License-Identifier: Apache-2.0
/*
 * reject - sends messages that cannot be stored to the rejected topic, TOPIC.rejected.
 *
 * A rejected message keeps its key, value, `decima-epoch`, `decima-seq` and `decima-status`, and
 * gets `decima-reason`, `decima-error`, `decima-source` (topic/partition/offset) and `decima-bytes`
 * (of its value). It counts as processed only when Kafka has acknowledged it; reject_message()
 * waits for that. If Kafka can never accept the message, only those four headers are sent: a
 * compressed topic holds messages of any size, and untrusted input must not block a partition.
 * Consumer thread only.
 */
#pragma once

#include "client/kafka_consumer.h"
#include "client/kafka_producer.h"

struct reject {
	/* private */
	struct kafka_producer producer;
	const char *source; /* the topic that we read */
	char topic[256];
	enum kafka_outcome
		fate; /* of the message being sent; KAFKA_OUTCOME_COUNT: not reported yet */
};

bool reject_open(struct reject *reject, const char *brokers, const char *source,
		 struct err *err) MUST_CHECK;
void reject_close(struct reject *reject);

/* False: Kafka did not acknowledge the message in time; try again. */
bool reject_message(struct reject *reject, const struct kafka_record *record, const char *reason,
		    const char *error, struct err *err) MUST_CHECK;
