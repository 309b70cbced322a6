// SPDX-License-Identifier: Apache-2.0
/*
 * publish - one thread that takes batches out of the spool, in order, and puts them into Kafka.
 *
 * A batch leaves the spool when Kafka has acknowledged it, never before. What fails goes again, for
 * ever, with growing pauses that differ from host to host; batches put meanwhile wait behind. The
 * number of messages and bytes on their way is bounded, so memory does not grow with the spool, and
 * so are the bytes per second (pace.h). After a crash a batch may be sent twice: its number tells
 * the ingester.
 */
#pragma once

#include "chassis/metrics.h"
#include "client/kafka_producer.h"
#include "pace.h"
#include "spool.h"

#include <pthread.h>

#define PUBLISH_TOPIC "otlp_profiles"

struct publish_options {
	const char *brokers;
	const char *topic;         /* NULL: PUBLISH_TOPIC */
	uint64_t queue_max_kbytes; /* of librdkafka's queue; 0: its default */
	uint64_t max_rate;         /* bytes per second out of the spool; 0: no bound. See pace.h */
};

/* A batch that is on its way; its index is the message's token. */
struct publish_slot {
	uint64_t epoch, seq, bytes;
	bool in_use;
};

struct publish {
	/* private; owned by the thread while it runs */
	struct spool *spool;
	struct publish_options options;
	struct kafka_producer producer;
	bool producer_is_open;
	struct publish_slot slots[PACE_WINDOW_MAX];
	size_t in_flight;
	struct pace pace;
	uint64_t pause_ms, pause_until_ns; /* after a failure; 0: none */
	pthread_t thread;
	bool running;
	_Atomic uint64_t stop_at_ns; /* 0: not asked to stop */
};

/* Needs no Kafka: it is waited for. The spool must outlive the thread. */
bool publish_start(struct publish *publish, struct spool *spool,
		   const struct publish_options *options, struct err *err) MUST_CHECK;

/*
 * Send what the spool still holds, for at most timeout_ms and a second; what is not delivered by
 * then stays in the spool.
 */
void publish_stop(struct publish *publish, uint64_t timeout_ms);

/* Of the spool and of this thread; for metrics_register(). */
extern struct metric *const publish_metrics[];
extern const size_t publish_metric_count;
