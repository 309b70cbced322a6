// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_topic - make sure that a topic is there.
 */
#pragma once

#include "base/err.h"
#include "base/stop.h"

struct kafka_topic {
	const char *name;
	uint64_t partitions, replication_factor;
	uint64_t retention_ms; /* 0: the broker's default */
};

/* Create the topic where it is missing; one that is there is left as it is. Asks the broker. */
bool kafka_topic_ensure(const char *brokers, const struct kafka_topic *topic,
			const struct stop *stop, struct err *err) MUST_CHECK;
