// SPDX-License-Identifier: Apache-2.0
/*
 * publish - a thread that moves batches from the spool to Kafka, in order.
 *
 * A batch is removed from the spool only after Kafka has acknowledged it. A failed send is retried
 * without limit, after growing pauses with jitter; newer batches wait in the spool meanwhile. The
 * messages and bytes in flight are bounded, so memory does not grow with the spool, and so is the
 * rate in bytes per second ("agent/spool/pace.h"). A batch that cannot be read is overtaken. After
 * a crash a batch may be sent twice: the ingester recognizes it by its number. One thread, of the
 * caller, starts and stops.
 */
#pragma once

#include "agent/spool/pace.h"
#include "agent/spool/spool.h"
#include "client/kafka_producer.h"
#include "server/metrics/metrics.h"

#include <pthread.h>

#define PUBLISH_TOPIC "otlp_profiles"

/* The texts must outlive the thread. */
struct publish_options {
	const char *brokers;
	const char *topic;         /* NULL: PUBLISH_TOPIC */
	uint64_t queue_max_kbytes; /* of librdkafka's queue; 0: its default */
	uint64_t max_rate;         /* bytes per second out of the spool; 0: unlimited. See pace.h */
};

/* A batch in flight; the index of its slot is the message's token. */
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
	uint64_t pause_ms, pause_until_ns; /* after a failure; 0: no pause */
	pthread_t thread;
	bool running;
	_Atomic uint64_t stop_at_ns; /* deadline of publish_stop(); 0: not stopping */
};

/*
 * Starts the thread. Does not need Kafka to be up: the thread retries. The spool must outlive the
 * thread, and the struct must not move until publish_stop(). Fails as kafka_producer_open(), or
 * with ERR_IO if the thread cannot be started; then there is nothing to stop.
 */
bool publish_start(struct publish *publish, struct spool *spool,
		   const struct publish_options *options, struct err *err) MUST_CHECK;

/*
 * Sends the batches of the spool for at most timeout_ms, plus up to a second to end the thread. A
 * batch that is not delivered by then stays in the spool. Accepts a struct whose publish_start()
 * failed.
 */
void publish_stop(struct publish *publish, uint64_t timeout_ms);

/* The metrics of the spool and of this thread, for metrics_register(). */
extern struct metric *const publish_metrics[];
