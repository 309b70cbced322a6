// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_producer - sends messages to one Kafka topic and reports the outcome of each (librdkafka).
 *
 * acks=all, idempotent, zstd, no auto-created topics, bounded queue memory. One thread owns a
 * producer; reports are delivered on that thread, by kafka_producer_poll() and
 * kafka_producer_close(). The struct must not move while it is open.
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
	uint64_t token; /* returned in the report */
};

enum kafka_outcome {
	KAFKA_DELIVERED, /* durable in Kafka */
	KAFKA_FAILED,    /* perhaps not stored: send it again */
	KAFKA_REJECTED,  /* Kafka will never accept this message (too large): do not retry */
	KAFKA_OUTCOME_COUNT,
};

/* `token` is that of the message. `why` is the reason if the message was not delivered, else ""; it
 * is valid during the call. */
typedef void kafka_report(void *self, uint64_t token, enum kafka_outcome fate, const char *why);

struct kafka_producer_options {
	const char *brokers, *topic, *client_id; /* client_id NULL: "decima" */
	uint64_t queue_max_kbytes;               /* of librdkafka's send queue; 0: 16 MiB */
	kafka_report *report;
	void *self; /* passed to report() */
};

struct kafka_producer {
	/* A fatal error: no message can be sent any more. Close this producer and open a new one.
	 */
	bool broken;
	uint64_t in_flight; /* messages sent and not reported yet */
	/* private */
	struct rd_kafka_s *kafka;
	struct kafka_producer_options options;
};

/*
 * Create the client; does not wait for a broker. `options` is copied; `topic` and `self` must live
 * until the close. ERR_INVALID: a setting was rejected. ERR_IO: librdkafka could not start. After a
 * failure the producer is closed.
 */
bool kafka_producer_open(struct kafka_producer *producer,
			 const struct kafka_producer_options *options, struct err *err) MUST_CHECK;

/*
 * Queue a message; does not wait. Key, value and headers are copied. ERR_LIMIT: the queue is full;
 * poll and retry. ERR_INVALID: Kafka will never accept this message; do not retry. ERR_IO: another
 * failure; retry, or open a new producer if `broken` is set. If the call fails, there is no report.
 */
bool kafka_producer_send(struct kafka_producer *producer, const struct kafka_message *message,
			 struct err *err) MUST_CHECK;

/* Deliver reports; wait up to timeout_ms for the first one. The producer must be open. */
void kafka_producer_poll(struct kafka_producer *producer, uint64_t timeout_ms);

/* Wait up to timeout_ms for the messages in flight, then report the remaining ones as failed and
 * close. May take half a second longer than timeout_ms, and KAFKA_CLOSE_MS more if librdkafka hangs
 * ("client/kafka_close.h"). A zeroed or closed producer is accepted. */
void kafka_producer_close(struct kafka_producer *producer, uint64_t timeout_ms);
