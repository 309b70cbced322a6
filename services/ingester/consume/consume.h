// SPDX-License-Identifier: Apache-2.0
/*
 * consume - the ingester's main loop: read, decode, buffer, flush.
 *
 *     kafka ──► batch_number ──► otlp_read ──► partition_buffer ──► store_writer_flush
 *                    │               └──► reject
 *                    ├──► conflict: rejected, its number was received with other contents
 *                    └──► duplicate: dropped, counted
 *
 * The loop runs on one thread, the consumer thread, and needs no lock; librdkafka's threads
 * prefetch meanwhile. Messages that were read and not flushed are still in Kafka. If a failure
 * leaves in doubt what PostgreSQL has stored, all buffers are dropped, and reading starts again
 * from the offsets in PostgreSQL. HTTP threads read only `state` and `progress`.
 */
#pragma once

#include "ingester/consume/hosts_internal.h"
#include "ingester/consume/partition_buffer_internal.h"
#include "ingester/consume/poison_internal.h"
#include "ingester/consume/progress_internal.h"
#include "ingester/consume/reject_internal.h"
#include "ingester/consume/seek_overrides_internal.h"
#include "ingester/consume/unreadable_internal.h"

/* Texts are borrowed and must outlive the loop. */
struct consume_options {
	const char *brokers, *topic, *group, *postgres;
	uint64_t topic_partitions, replication_factor;            /* of a topic that is created */
	uint64_t flush_interval_ns, retention_raw_ns, session_ns; /* session_ns: a timeout */
	uint64_t memory_limit; /* bytes; 1 / BUFFER_SHARE of it is for the buffers */
	bool synchronous_commit;
};

/* What the loop waits for. */
enum consume_state {
	CONSUME_OPENING_STORE,
	CONSUME_OPENING_TOPIC,
	CONSUME_JOINING,
	CONSUME_RUNNING,
	CONSUME_STORE_UNAVAILABLE,
	CONSUME_STATE_COUNT,
};

struct consume {
	_Atomic int state; /* enum consume_state */
	struct progress progress;
	/* private */
	const struct consume_options *options; /* borrowed until consume_run() returns */
	struct kafka_consumer consumer;
	struct reject reject;
	struct store_writer store;
	struct hosts hosts;
	struct arena assignment; /* memory of the buffers; reset with each assignment */
	struct partition_buffer *buffers;
	size_t buffer_count;
	uint64_t connections; /* store.connections when the offsets were read */
	uint64_t partitions_made, writers_terminated; /* of the store, already in the metrics */
	struct partition_buffer **by_partition;       /* [0, partition_end) */
	size_t partition_end;
	struct arena message_arena; /* memory of the message being decoded */
	struct seek_overrides overrides;
	struct unreadable unreadable;
	struct poison poison;
	bool is_paused;
	uint64_t next_flush_ns, backoff_ms;
	uint64_t topic_check_ns; /* when to look for the topic, if no partition is assigned */
};

/*
 * Runs until daemon_stopping(); the calling thread becomes the consumer thread. *consume must be
 * zero and must not move. If PostgreSQL or Kafka is unavailable, at the start or later, the loop
 * waits and retries. At the end the buffers are flushed once more, and everything is closed and
 * freed, also after a failure. False: the Kafka clients cannot be created, with the codes of
 * kafka_producer_open() and kafka_consumer_open().
 */
bool consume_run(struct consume *consume, const struct consume_options *options,
		 struct err *err) MUST_CHECK;

/* For /ready; `self` is the struct consume. Any thread. False: not ready; the message of `why`
 * (ERR_IO) names what the loop waits for, or says that it stores nothing. */
bool consume_ready(void *self, struct err *why);
