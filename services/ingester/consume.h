// SPDX-License-Identifier: Apache-2.0
/*
 * consume - the ingester's one loop: read, decode, hold, flush.
 *
 *     kafka ──► number ──► otlp_read ──► part (one per partition) ──► store_writer_flush
 *                 │            └──► reject
 *                 └──► seen before: dropped, counted
 *
 * Everything runs on one thread, so nothing here is locked; librdkafka fetches ahead meanwhile.
 * What is read and not flushed exists in Kafka still: whenever in doubt, all of it is dropped and
 * read again from the offsets that PostgreSQL holds. HTTP threads see only `state`.
 */
#pragma once

#include "hosts.h"
#include "partition_buffer.h"
#include "poison.h"
#include "reject.h"
#include "unreadable.h"

struct consume_options {
	const char *brokers, *topic, *group, *postgres;
	uint64_t topic_partitions, replication_factor;
	uint64_t flush_interval_ns, retention_raw_ns, session_ns;
	uint64_t memory_limit; /* bytes; BUFFER_SHARE of it is for what waits to be flushed */
	bool synchronous_commit;
};

/* What it is waiting for, or nothing. */
enum consume_state {
	CONSUME_OPENING_STORE,
	CONSUME_OPENING_TOPIC,
	CONSUME_JOINING,
	CONSUME_RUNNING,
	CONSUME_STORE_AWAY,
	CONSUME_STATE_COUNT,
};

/* Where a partition goes on when the topic no longer has what was next. */
struct seek_override {
	int32_t partition;
	int64_t offset;
};

struct consume {
	_Atomic int state; /* enum consume_state */
	/* private */
	const struct consume_options *options;
	struct kafka_consumer consumer;
	struct reject reject;
	struct store_writer store;
	struct hosts hosts;
	struct arena assignment; /* lives as long as the parts */
	struct partition_buffer *buffers;
	size_t buffer_count;
	uint64_t connections;                    /* of the store, as their offsets were read */
	uint64_t partitions_made, writers_ended; /* of the store, as they were counted */
	struct partition_buffer **by_partition;  /* [0, partition_end) */
	size_t partition_end;
	struct arena message_arena;         /* of the one being decoded */
	struct seek_override seek_override; /* partition -1: none */
	struct unreadable unreadable;
	struct poison poison;
	bool is_paused;
	uint64_t next_flush_ns, backoff_ms;
};

/* Work until daemon_stopping(). What is away at the start is waited for. */
bool consume_run(struct consume *consume, const struct consume_options *options,
		 struct err *err) MUST_CHECK;

/* For /ready: any thread. */
bool consume_ready(void *self, struct err *why);
