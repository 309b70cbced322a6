// SPDX-License-Identifier: Apache-2.0
/*
 * reject - the topic for messages that cannot be accepted.
 *
 * A rejected message goes there as it came, with its own headers and `decima-reason`,
 * `decima-error`, `decima-source` (topic/partition/offset) and `decima-bytes` (of its value). It
 * counts as dealt with only once Kafka has it: reject_message() waits. Of one that Kafka would
 * never take (a compressed topic holds messages of any size) only those four headers are kept, for
 * nothing that a stranger sends may hold up a partition.
 */
#pragma once

#include "client/kafka_consumer.h"
#include "client/kafka_producer.h"

struct reject {
	/* private */
	struct kafka_producer producer;
	const char *source; /* the topic that is read */
	char topic[256];
	enum kafka_fate fate; /* of the one being sent; KAFKA_FATE_COUNT: not told yet */
};

bool reject_open(struct reject *reject, const char *brokers, const char *source,
		 struct err *err) MUST_CHECK;
void reject_close(struct reject *reject);

/* False: Kafka did not take it in time; try again. */
bool reject_message(struct reject *reject, const struct kafka_record *record, const char *reason,
		    const char *error, struct err *err) MUST_CHECK;
