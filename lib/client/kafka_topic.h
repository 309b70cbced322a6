// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_topic - creates a Kafka topic if it does not exist. Any thread; keeps no state.
 */
#pragma once

#include "base/cancel.h"
#include "base/err.h"

struct kafka_topic {
	const char *name;
	uint64_t partitions, replication_factor;
	uint64_t retention_ms; /* 0: the broker's default */
};

/*
 * Create the topic if it is missing; an existing topic is not changed. Sends a request to the
 * broker and waits up to 15 s, or until `cancel` (NULL: not cancellable) is cancelled. ERR_IO: no
 * response, cancelled, or an error of the broker; a retry may succeed. ERR_INVALID: librdkafka
 * rejected a setting or the topic's parameters.
 */
bool kafka_topic_ensure(const char *brokers, const struct kafka_topic *topic,
			const struct cancel *cancel, struct err *err) MUST_CHECK;
