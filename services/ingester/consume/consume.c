// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/consume.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "client/kafka_topic.h"
#include "ingester/consume/assignment_internal.h"
#include "ingester/consume/flush_internal.h"
#include "ingester/consume/message_internal.h"
#include "ingester/ingester_limits.h"
#include "ingester/metrics.h"
#include "server/daemon.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	POLL_MS = 200,
	REJECTED_PARTITIONS = 1,
};

#define TOPIC_RETENTION_MS UINT64_C(86400000)
#define QUEUE_SHARE        8 /* divides the memory limit; for messages prefetched by librdkafka */

static const char *const state_texts[CONSUME_STATE_COUNT] = {
	[CONSUME_OPENING_STORE] = "waiting for PostgreSQL",
	[CONSUME_OPENING_TOPIC] = "waiting for Kafka",
	[CONSUME_JOINING] = "waiting for Kafka to assign partitions",
	[CONSUME_RUNNING] = "running",
	[CONSUME_STORE_UNAVAILABLE] =
		"PostgreSQL does not accept data; it stays in Kafka meanwhile",
};

bool consume_ready(void *self, struct err *why)
{
	struct consume *consume = self;
	int state = consume->state;

	if (state != CONSUME_RUNNING)
		return err_set(why, ERR_IO, "%s", state_texts[state]);
	if (progress_is_stalled(&consume->progress, clock_monotonic_ns(),
				STALL_MS + 2 * consume->options->flush_interval_ns / NS_PER_MS))
		return err_set(why, ERR_IO, "Kafka has messages, and none is stored");
	return true;
}

/* Retry until the record is processed or the daemon stops. */
static void process(struct consume *consume, struct partition_buffer *buffer,
		    const struct kafka_record *record)
{
	struct err err;

	liveness_step("processing a message");
	while (!message_process(consume, buffer, record, &err)) {
		log_warn("message not processed, trying again", "error=\"%s\"", err.msg);
		consume->state = CONSUME_STORE_UNAVAILABLE;
		if (!daemon_wait(RETRY_MS))
			return;
	}
	if (consume->state == CONSUME_STORE_UNAVAILABLE && !consume->backoff_ms)
		consume->state = CONSUME_RUNNING;
}

/* The buffer whose topic was replaced by another one, or NULL. */
static struct partition_buffer *on_record(struct consume *consume,
					  const struct kafka_record *record)
{
	struct partition_buffer *buffer = assignment_buffer(consume, record->partition);

	if (!buffer)
		return NULL; /* of an earlier assignment */
	switch (buffer->must_check ? partition_buffer_check(buffer, record) : PARTITION_BEYOND) {
	case PARTITION_SAME:
		break;
	case PARTITION_FOREIGN:
		return buffer;
	case PARTITION_BEYOND:
		process(consume, buffer, record);
		break;
	}
	return NULL;
}

/*
 * librdkafka should deliver a message once in an assignment. If it delivers one again, a batch with
 * a number would be found to be a duplicate, but any other would be stored twice. So nothing of the
 * buffers is trusted then, and all is read again from the stored offsets.
 */
static bool is_repeated(const struct partition_buffer *buffer, const struct kafka_record *record)
{
	if (!partition_buffer_is_past(buffer, record))
		return false;
	log_warn("a message was delivered again, reading again from the stored offsets",
		 "partition=%" PRId32 " offset=%" PRId64 " expected=%" PRId64, record->partition,
		 record->offset, buffer->to.next);
	metric_add(&ingester_repeated, 1);
	return true;
}

/* Frees the record. */
static void receive(struct consume *consume, struct kafka_record *record)
{
	struct partition_buffer *buffer = assignment_buffer(consume, record->partition);
	bool again = buffer && ((record->partition == consume->unreadable.partition &&
				 !assignment_readable(consume, buffer, record->offset)) ||
				is_repeated(buffer, record));

	buffer = again ? NULL : on_record(consume, record);
	kafka_record_done(record); /* before the consumer may be closed */
	if (again)
		assignment_restart(consume, false);
	else if (buffer)
		assignment_foreign(consume, buffer);
}

static void step(struct consume *consume)
{
	struct kafka_record record;
	struct partition_buffer *buffer;
	struct err err;

	liveness_step("reading from Kafka");
	switch (kafka_consumer_poll(&consume->consumer, POLL_MS, &record, &err)) {
	case KAFKA_TIMEOUT:
		if (consume->poison.limit)
			consume->next_flush_ns = 0; /* no more messages: flush those received */
		break;
	case KAFKA_RECORD:
		receive(consume, &record);
		break;
	case KAFKA_END:
		buffer = assignment_buffer(consume, record.partition);
		if (buffer)
			buffer->end = record.offset;
		break;
	case KAFKA_OUT_OF_RANGE:
		buffer = assignment_buffer(consume, record.partition);
		if (buffer)
			assignment_out_of_range(consume, buffer);
		break;
	case KAFKA_CORRUPT_BATCH:
		buffer = assignment_buffer(consume, record.partition);
		if (buffer)
			assignment_unreadable(consume, buffer, record.offset);
		break;
	case KAFKA_ERROR:
		log_warn("cannot read from Kafka", "error=\"%s\"", err.msg);
		break;
	}
	flush_if_due(consume);
}

static bool open_store(struct consume *consume)
{
	const struct consume_options *options = consume->options;
	struct store_writer_options store = {
		.postgres = options->postgres,
		.topic = options->topic,
		.seen_ids_max = KNOWN_SERIES_MAX,
		.session_ms = options->session_ns / NS_PER_MS,
		.synchronous_commit = options->synchronous_commit,
		.cancel = daemon_cancel(),
	};
	struct err err;

	while (!store_writer_open(&consume->store, &store, &err)) {
		log_warn("PostgreSQL not ready, trying again", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return false;
	}
	return true;
}

/* Creates the topics that are missing. ERR_IO: retry. */
static bool ensure_topics(struct consume *consume, struct err *err)
{
	const struct consume_options *options = consume->options;
	char rejected[256];
	struct kafka_topic topics[] = {
		{ options->topic, options->topic_partitions, options->replication_factor,
		  TOPIC_RETENTION_MS },
		{ rejected, REJECTED_PARTITIONS, options->replication_factor, TOPIC_RETENTION_MS },
	};

	snprintf(rejected, sizeof(rejected), "%s.rejected", options->topic);
	for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
		liveness_step("creating the topics");
		if (!kafka_topic_ensure(options->brokers, &topics[i], daemon_cancel(), err))
			return false;
	}
	return true;
}

static bool open_topics(struct consume *consume)
{
	struct err err;

	while (!ensure_topics(consume, &err)) {
		log_warn("Kafka not ready, trying again", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return false;
	}
	return true;
}

/* Without its topic an ingester is assigned no partition. It creates a topic that was deleted. */
static void check_topics(struct consume *consume)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct err err;

	if (consume->buffer_count == 0 && now_ns < consume->topic_check_ns)
		return;
	if (consume->buffer_count == 0 && !ensure_topics(consume, &err))
		log_warn("Kafka not ready, trying again", "error=\"%s\"", err.msg);
	consume->topic_check_ns = now_ns + TOPIC_CHECK_MS * NS_PER_MS;
}

static bool open_kafka(struct consume *consume, struct err *err)
{
	const struct consume_options *options = consume->options;

	return reject_open(&consume->reject, options->brokers, options->topic, err) &&
	       kafka_consumer_open(
		       &consume->consumer,
		       &(struct kafka_consumer_options){
			       .brokers = options->brokers,
			       .topic = options->topic,
			       .group = options->group,
			       .client_id = "decima-ingester",
			       .queue_max_kbytes = options->memory_limit / QUEUE_SHARE / 1024,
			       .session_ms = options->session_ns / NS_PER_MS,
			       .assigned = assignment_on_assigned,
			       .revoked = assignment_on_revoked,
			       .self = consume,
			       .cancel = daemon_cancel(),
		       },
		       err);
}

/* Flush the buffers once more. If that fails, the next owner of the partitions reads them again. */
static void finish(struct consume *consume)
{
	struct err err;

	if (consume->consumer.kafka && !flush_all(consume, &err))
		log_warn("last flush failed, its messages will be read again", "error=\"%s\"",
			 err.msg);
	kafka_consumer_close(&consume->consumer);
	reject_close(&consume->reject);
	store_writer_close(&consume->store);
	assignment_drop(consume);
	arena_free(&consume->assignment);
	arena_free(&consume->message_arena);
	seek_overrides_done(&consume->overrides);
}

bool consume_run(struct consume *consume, const struct consume_options *options, struct err *err)
{
	bool done = true;

	consume->options = options;
	consume->unreadable = UNREADABLE_NONE;
	hosts_init(&consume->hosts);
	consume->state = CONSUME_OPENING_STORE;
	liveness_begin("consumer");
	if (!open_store(consume))
		goto out;
	consume->state = CONSUME_OPENING_TOPIC;
	if (!open_topics(consume))
		goto out;
	consume->state = CONSUME_JOINING;
	done = open_kafka(consume, err);
	consume->next_flush_ns = clock_monotonic_ns() + options->flush_interval_ns;
	consume->topic_check_ns = clock_monotonic_ns() + TOPIC_CHECK_MS * NS_PER_MS;
	progress_made(&consume->progress, clock_monotonic_ns());
	while (done && !daemon_stopping()) {
		step(consume);
		check_topics(consume);
	}
out:
	liveness_end(); /* daemon_program.stop_ms bounds the end */
	finish(consume);
	return done;
}
