// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_producer - sends messages to one topic and reports each one's fate (librdkafka).
 *
 * acks=all, idempotent, zstd, no auto-created topics, its own memory capped. One thread owns it:
 * reports are delivered by kafka_producer_poll() on the caller's thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct kafka_header {
	const char *name;
	str value;
};

struct kafka_message {
	str key, value;
	const struct kafka_header *headers;
	size_t header_count;
	uint64_t token; /* given back in the report */
};

enum kafka_fate {
	KAFKA_DELIVERED, /* durable in Kafka */
	KAFKA_FAILED,    /* not known to be: send it again */
	KAFKA_REFUSED,   /* Kafka will never take this message (too large): do not */
	KAFKA_FATE_COUNT,
};

/* `why` says what happened where it was not delivered. */
typedef void kafka_report(void *self, uint64_t token, enum kafka_fate fate, const char *why);

struct kafka_producer_options {
	const char *brokers, *topic, *client_id;
	uint64_t queue_max_kbytes; /* of librdkafka's own queue; 0: a default of 16 MiB */
	kafka_report *report;
	void *self;
};

struct kafka_producer {
	/* It has met an error that no message can pass any more: close it and open another. */
	bool broken;
	uint64_t in_flight; /* sent and not reported yet */
	/* private */
	struct rd_kafka_s *kafka;
	struct kafka_producer_options options;
};

bool kafka_producer_open(struct kafka_producer *producer,
			 const struct kafka_producer_options *options, struct err *err) MUST_CHECK;

/*
 * Value and key are copied. ERR_LIMIT: the queue is full, poll and try again. ERR_INVALID: Kafka
 * will never take this message. Where it fails there is no report.
 */
bool kafka_producer_send(struct kafka_producer *producer, const struct kafka_message *message,
			 struct err *err) MUST_CHECK;

/* Deliver reports; waits up to timeout_ms for the first. */
void kafka_producer_poll(struct kafka_producer *producer, uint64_t timeout_ms);

/* Wait up to timeout_ms for what is in flight, then close; what is not reported is not delivered.
 */
void kafka_producer_close(struct kafka_producer *producer, uint64_t timeout_ms);
