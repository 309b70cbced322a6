// SPDX-License-Identifier: Apache-2.0
/*
 * reject - sends messages that cannot be stored to the rejected topic, TOPIC.rejected.
 *
 * TOPIC is the topic from which the ingester reads. A message is sent as a copy: with the key, the
 * value and the headers `decima-epoch`, `decima-seq` and `decima-status` of the original, and with
 * four new headers: `decima-reason`, `decima-error`, `decima-source` (topic/partition/offset of the
 * original) and `decima-bytes` (length of the original's value). Only when Kafka has acknowledged
 * the copy, the caller may count the original as processed.
 *
 * If Kafka reports that it will never accept the copy (it is larger than the broker's limit, which
 * the compressed original was not), a message with only the four new headers, without key and
 * value, is sent instead: untrusted input must not block a partition. Consumer thread only: the
 * thread that runs consume_run().
 */
#pragma once

#include "client/kafka_consumer.h"
#include "client/kafka_producer.h"

struct reject {
	/* private */
	struct kafka_producer producer;
	const char *source; /* TOPIC; borrowed */
	char topic[256];
	enum kafka_outcome
		fate; /* outcome of the message being sent; KAFKA_OUTCOME_COUNT: no report yet */
};

/*
 * Creates the Kafka producer; does not wait for the broker. Overwrites *reject, which must not move
 * afterwards. `source` is TOPIC; `source` and `brokers` must outlive the struct. False: the
 * producer cannot be created, with the codes of kafka_producer_open().
 */
bool reject_open(struct reject *reject, const char *brokers, const char *source,
		 struct err *err) MUST_CHECK;

/* Accepts {0}, and a struct whose open failed. */
void reject_close(struct reject *reject);

/*
 * Sends a copy of the record and waits up to 30 s, or until the daemon stops, for the outcome;
 * twice that if the copy without value is sent. Nothing is kept after the call. True: Kafka has
 * acknowledged a copy, or will never accept even the copy without value (a warning is logged).
 * False: there is no acknowledgement (ERR_IO), or the producer's queue is full (ERR_LIMIT); call
 * again with the same record. The topic may then get the message more than once.
 */
bool reject_message(struct reject *reject, const struct kafka_record *record, const char *reason,
		    const char *error, struct err *err) MUST_CHECK;
