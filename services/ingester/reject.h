/*
 * reject - the topic for messages that cannot be accepted.
 *
 * A rejected message goes there as it came, with its own headers and `decima-reason`,
 * `decima-error`, `decima-source` (topic/partition/offset). It counts as dealt with only once Kafka
 * has it: reject_message() waits.
 */
#pragma once

#include "client/kafka_consumer.h"
#include "client/kafka_producer.h"

struct reject {
	/* private */
	struct kafka_producer producer;
	const char *source; /* the topic that is read */
	char topic[256];
	bool reported, delivered;
};

bool reject_open(struct reject *reject, const char *brokers, const char *source,
		 struct err *err) MUST_CHECK;
void reject_close(struct reject *reject);

/* False: Kafka did not take it in time; try again. */
bool reject_message(struct reject *reject, const struct kafka_record *record, const char *reason,
		    const char *error, struct err *err) MUST_CHECK;
