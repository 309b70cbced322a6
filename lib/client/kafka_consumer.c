// SPDX-License-Identifier: Apache-2.0
#include "client/kafka_consumer.h"

#include "base/clock.h"
#include "base/heap.h"
#include "base/liveness.h"
#include "base/log.h"
#include "client/kafka_close.h"
#include "client/kafka_log.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <unistd.h>

enum {
	QUEUE_DEFAULT_KBYTES = 16 << 10,
	SESSION_DEFAULT_MS = 10000,
	HEARTBEATS = 3, /* in a session's time */
	CALL_TIMEOUT_MS = KAFKA_CANCEL_MS,
	CALL_TRIES = 5,
	RESPONSE_TIMEOUT_MS = 1000,
	CLOSE_POLL_MS = 100
};

_Static_assert(KAFKA_FROM_BEGINNING == RD_KAFKA_OFFSET_BEGINNING, "passed to librdkafka unchanged");

/*
 * auto.offset.reset=error: librdkafka must not skip messages by itself. queued.max.messages.kbytes
 * limits the messages fetched ahead; a message that is larger than a fetch is fetched alone.
 */
static const struct {
	const char *name, *value;
} settings[] = {
	{ "allow.auto.create.topics", "false" },
	{ "auto.offset.reset", "error" },
	{ "check.crcs", "true" },
	{ "enable.auto.commit", "false" },
	{ "enable.auto.offset.store", "false" },
	{ "enable.partition.eof", "true" },
	/* Bytes of a response. It is decompressed as a whole, to ten times as much or more. */
	{ "fetch.max.bytes", "4194304" },
	{ "fetch.message.max.bytes", "1048576" },
	{ "log.connection.close", "false" },
	{ "max.poll.interval.ms", "300000" },
	/*
	 * Also the limit of a decompressed batch: librdkafka triples its estimate of the size until
	 * it suffices, so a batch below a third of this limit can always be read. A message is at
	 * most 64 MB; this is 3 times 72 MB.
	 */
	{ "receive.message.max.bytes", "226492416" },
	{ "reconnect.backoff.max.ms", "5000" },
	{ "socket.keepalive.enable", "true" },
	{ "topic.metadata.refresh.interval.ms", "30000" },
};

static void on_error(rd_kafka_t *kafka, int code, const char *reason, void *self)
{
	char room[KAFKA_TEXT_MAX];

	(void)self;
	log_warn("kafka consumer error", "client=%s code=%s reason=\"%s\"", rd_kafka_name(kafka),
		 rd_kafka_err2name(code), kafka_text(reason, room));
}

/*
 * Commit the start offsets with a text of our own, before the first message is fetched. No failure
 * is reported: reading does not depend on it.
 */
static void mark_topic(struct kafka_consumer *consumer, const rd_kafka_topic_partition_list_t *list)
{
	rd_kafka_topic_partition_list_t *marks = rd_kafka_topic_partition_list_copy(list);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(consumer->kafka);
	rd_kafka_event_t *event = NULL;

	snprintf(consumer->mark, sizeof(consumer->mark), "decima-%d-%" PRIx64, getpid(),
		 clock_unix_ns());
	for (int i = 0; i < marks->cnt; i++) {
		rd_kafka_topic_partition_t *item = &marks->elems[i];

		item->offset = item->offset < 0 ? 0 : item->offset;
		free(item->metadata);
		item->metadata = heap_str(str_from(consumer->mark));
		item->metadata_size = strlen(consumer->mark);
	}
	if (marks->cnt && !rd_kafka_commit_queue(consumer->kafka, marks, queue, NULL, NULL))
		event = rd_kafka_queue_poll(queue, RESPONSE_TIMEOUT_MS);
	consumer->is_marked = event && !rd_kafka_event_error(event);
	if (marks->cnt && !consumer->is_marked)
		log_warn("cannot mark the topic in Kafka", "error=\"%s\"",
			 event ? rd_kafka_event_error_string(event) : "no response");
	if (event)
		rd_kafka_event_destroy(event);
	rd_kafka_queue_destroy(queue);
	rd_kafka_topic_partition_list_destroy(marks);
}

/* Get the start offset of each partition from the caller. False: read no partition. */
static bool fill_positions(struct kafka_consumer *consumer, rd_kafka_topic_partition_list_t *list)
{
	AUTO_ARENA arena = { 0 };
	size_t count = (size_t)list->cnt;
	struct kafka_position *positions = arena_array(&arena, struct kafka_position, count);

	for (size_t i = 0; i < count; i++)
		positions[i].partition = list->elems[i].partition;
	consumer->is_assigned = true;
	if (!consumer->options.assigned(consumer->options.self, positions, count))
		return false;
	for (size_t i = 0; i < count; i++)
		list->elems[i].offset = positions[i].offset;
	mark_topic(consumer, list);
	return true;
}

static void revoke_all(struct kafka_consumer *consumer)
{
	if (consumer->is_assigned)
		consumer->options.revoked(consumer->options.self);
	consumer->is_assigned = false;
}

static void on_rebalance(rd_kafka_t *kafka, rd_kafka_resp_err_t code,
			 rd_kafka_topic_partition_list_t *list, void *self)
{
	struct kafka_consumer *consumer = self;

	if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
		log_info("partitions assigned", "count=%d", list->cnt);
		rd_kafka_assign(kafka, fill_positions(consumer, list) ? list : NULL);
		/* A partition that was paused when it was revoked would still be paused. */
		rd_kafka_resume_partitions(kafka, list);
		return;
	}
	log_info("partitions revoked", "count=%d lost=%d", list->cnt,
		 rd_kafka_assignment_lost(kafka));
	revoke_all(consumer);
	rd_kafka_assign(kafka, NULL);
}

static bool set_number(rd_kafka_conf_t *conf, const char *name, uint64_t value, struct err *err)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, value);
	return kafka_conf_set(conf, name, number, err);
}

static bool conf_fill(rd_kafka_conf_t *conf, const struct kafka_consumer_options *options,
		      struct err *err)
{
	uint64_t kbytes =
		options->queue_max_kbytes ? options->queue_max_kbytes : QUEUE_DEFAULT_KBYTES;
	uint64_t session_ms = options->session_ms ? options->session_ms : SESSION_DEFAULT_MS;

	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (!kafka_conf_set(conf, settings[i].name, settings[i].value, err))
			return false;
	return kafka_conf_set(conf, "bootstrap.servers", options->brokers, err) &&
	       kafka_conf_set(conf, "group.id", options->group, err) &&
	       kafka_conf_set(conf, "client.id", options->client_id, err) &&
	       set_number(conf, "queued.max.messages.kbytes", kbytes, err) &&
	       set_number(conf, "session.timeout.ms", session_ms, err) &&
	       set_number(conf, "heartbeat.interval.ms", session_ms / HEARTBEATS, err);
}

static bool subscribe(struct kafka_consumer *consumer, struct err *err)
{
	rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(topics, consumer->options.topic, RD_KAFKA_PARTITION_UA);

	rd_kafka_resp_err_t code = rd_kafka_subscribe(consumer->kafka, topics);

	rd_kafka_topic_partition_list_destroy(topics);
	if (code)
		return err_set(err, ERR_IO, "subscribe to Kafka topic %s: %s",
			       consumer->options.topic, rd_kafka_err2str(code));
	return true;
}

bool kafka_consumer_open(struct kafka_consumer *consumer,
			 const struct kafka_consumer_options *options, struct err *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[KAFKA_TEXT_MAX];

	*consumer = (struct kafka_consumer){ .options = *options };
	rd_kafka_conf_set_opaque(conf, consumer);
	rd_kafka_conf_set_log_cb(conf, kafka_log);
	rd_kafka_conf_set_error_cb(conf, on_error);
	rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
	if (!conf_fill(conf, options, err)) {
		rd_kafka_conf_destroy(conf);
		return false;
	}
	consumer->kafka = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
	if (!consumer->kafka) {
		rd_kafka_conf_destroy(conf); /* ownership was not transferred */
		return err_set(err, ERR_IO, "create a Kafka consumer: %s", why);
	}
	rd_kafka_poll_set_consumer(consumer->kafka);
	if (subscribe(consumer, err))
		return true;
	kafka_consumer_close(consumer);
	return false;
}

/*
 * librdkafka waits 5 s for the response to LeaveGroup, and this wait cannot be interrupted. The
 * request is therefore not sent to a broker that does not respond; it notices after
 * session.timeout.ms.
 */
static bool is_reachable(rd_kafka_t *kafka)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_resp_err_t code =
		rd_kafka_metadata(kafka, 0, NULL, &metadata, RESPONSE_TIMEOUT_MS);

	if (code)
		return false;
	rd_kafka_metadata_destroy(metadata);
	return true;
}

/* Messages that were fetched but not read are in this queue as well; with them
 * rd_kafka_queue_poll_callback() aborts. */
static void leave_group(rd_kafka_t *kafka)
{
	uint64_t deadline_ns = clock_monotonic_ns() + KAFKA_CANCEL_MS * NS_PER_MS;
	rd_kafka_queue_t *queue = rd_kafka_queue_new(kafka);
	rd_kafka_error_t *error = rd_kafka_consumer_close_queue(kafka, queue);

	while (!error && !rd_kafka_consumer_closed(kafka) && clock_monotonic_ns() < deadline_ns) {
		rd_kafka_message_t *message = rd_kafka_consume_queue(queue, CLOSE_POLL_MS);

		if (message)
			rd_kafka_message_destroy(message);
	}
	if (error)
		rd_kafka_error_destroy(error);
	rd_kafka_queue_destroy(queue);
}

void kafka_consumer_close(struct kafka_consumer *consumer)
{
	if (!consumer->kafka)
		return;
	if (is_reachable(consumer->kafka))
		leave_group(consumer->kafka);
	if (!rd_kafka_consumer_closed(consumer->kafka))
		log_warn("consumer group not left: no response from Kafka");
	revoke_all(consumer); /* if leaving the group has not done it */
	kafka_close(consumer->kafka, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	consumer->kafka = NULL;
}

static bool reopen(struct kafka_consumer *consumer, struct err *err)
{
	struct kafka_consumer_options options = consumer->options;

	kafka_consumer_close(consumer);
	return kafka_consumer_open(consumer, &options, err);
}

/* A restart may fail and leave the consumer closed. */
static bool check_open(const struct kafka_consumer *consumer, struct err *err)
{
	return consumer->kafka || err_set(err, ERR_IO, "the Kafka client is closed");
}

static str text(const void *bytes, size_t len)
{
	return (str){ len ? bytes : NULL, len };
}

enum kafka_event kafka_consumer_poll(struct kafka_consumer *consumer, uint64_t timeout_ms,
				     struct kafka_record *ret_record, struct err *err)
{
	rd_kafka_timestamp_type_t kind;
	rd_kafka_message_t *message;

	if (!consumer->kafka && !reopen(consumer, err)) {
		cancel_wait(consumer->options.cancel, timeout_ms);
		return KAFKA_ERROR;
	}
	liveness_advance();
	message = rd_kafka_consumer_poll(consumer->kafka, (int)timeout_ms);

	if (!message)
		return KAFKA_TIMEOUT;

	struct kafka_record record = {
		.partition = message->partition,
		.offset = message->offset,
		.timestamp_ms = rd_kafka_message_timestamp(message, &kind),
	};

	if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
		rd_kafka_message_destroy(message);
		*ret_record = record;
		return KAFKA_END;
	}
	if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
		rd_kafka_message_destroy(message);
		*ret_record = record;
		return KAFKA_OUT_OF_RANGE;
	}
	if (message->err == RD_KAFKA_RESP_ERR__BAD_COMPRESSION) {
		rd_kafka_message_destroy(message);
		*ret_record = record;
		return KAFKA_CORRUPT_BATCH;
	}
	if (message->err) {
		err_set(err, ERR_IO, "%s", rd_kafka_message_errstr(message));
		rd_kafka_message_destroy(message);
		return KAFKA_ERROR;
	}
	record.key = text(message->key, message->key_len);
	record.value = text(message->payload, message->len);
	record.message = message;
	*ret_record = record;
	return KAFKA_RECORD;
}

void kafka_record_done(struct kafka_record *record)
{
	if (record->message)
		rd_kafka_message_destroy(record->message);
	*record = (struct kafka_record){ 0 };
}

str kafka_record_header(const struct kafka_record *record, const char *name)
{
	rd_kafka_headers_t *headers;
	const void *value;
	size_t len;

	if (rd_kafka_message_headers(record->message, &headers) ||
	    rd_kafka_header_get_last(headers, name, &value, &len))
		return (str){ 0 };
	return (str){ value ? value : "", value ? len : 0 };
}

/*
 * Seek all partitions of the current assignment to the offsets that the caller supplies, and resume
 * them, as a new assignment is not paused either. False: a seek failed.
 */
static bool seek_all(struct kafka_consumer *consumer, rd_kafka_topic_partition_list_t *list)
{
	bool done = fill_positions(consumer, list) &&
		    !rd_kafka_resume_partitions(consumer->kafka, list);
	rd_kafka_error_t *error =
		done ? rd_kafka_seek_partitions(consumer->kafka, list, CALL_TIMEOUT_MS) : NULL;

	if (error) {
		rd_kafka_error_destroy(error);
		return false;
	}
	for (int i = 0; i < list->cnt; i++)
		done = done && !list->elems[i].err;
	return done;
}

/*
 * Assigning the same partitions again would be simpler. But if the next rebalance comes before
 * librdkafka has stopped all of them, it stops some twice and aborts (its issue 5573).
 */
bool kafka_consumer_restart(struct kafka_consumer *consumer, bool is_stopped, struct err *err)
{
	rd_kafka_topic_partition_list_t *list;

	if (!consumer->kafka || is_stopped)
		return reopen(consumer, err);

	rd_kafka_resp_err_t code = rd_kafka_assignment(consumer->kafka, &list);

	if (code)
		return err_set(err, ERR_IO, "get the assignment: %s", rd_kafka_err2str(code));
	revoke_all(consumer);

	bool done = seek_all(consumer, list);

	rd_kafka_topic_partition_list_destroy(list);
	return done || reopen(consumer, err);
}

/* A partition may be missing: the new topic has fewer. */
static enum kafka_topic_state state_of(const struct kafka_consumer *consumer,
				       const rd_kafka_topic_partition_t *item)
{
	if (item->err && item->err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
		return KAFKA_TOPIC_UNKNOWN;
	if (!item->err && item->offset >= 0 &&
	    str_eq(text(item->metadata, item->metadata_size), str_from(consumer->mark)))
		return KAFKA_TOPIC_SAME;
	return KAFKA_TOPIC_REPLACED;
}

enum kafka_topic_state kafka_consumer_check_topic(struct kafka_consumer *consumer)
{
	enum kafka_topic_state state = KAFKA_TOPIC_SAME;
	rd_kafka_topic_partition_list_t *list;

	if (!consumer->kafka || !consumer->is_marked || rd_kafka_assignment(consumer->kafka, &list))
		return KAFKA_TOPIC_UNKNOWN;
	if (rd_kafka_committed(consumer->kafka, list, RESPONSE_TIMEOUT_MS))
		state = KAFKA_TOPIC_UNKNOWN;
	for (int i = 0; i < list->cnt && state == KAFKA_TOPIC_SAME; i++)
		state = state_of(consumer, &list->elems[i]);
	rd_kafka_topic_partition_list_destroy(list);
	return state;
}

bool kafka_consumer_seek(struct kafka_consumer *consumer, const struct kafka_position *position,
			 struct err *err)
{
	if (!check_open(consumer, err))
		return false;

	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(
		list, consumer->options.topic, position->partition);

	item->offset = position->offset;

	rd_kafka_error_t *error = rd_kafka_seek_partitions(consumer->kafka, list, CALL_TIMEOUT_MS);
	rd_kafka_resp_err_t code = error ? rd_kafka_error_code(error) : item->err;

	if (error)
		rd_kafka_error_destroy(error);
	rd_kafka_topic_partition_list_destroy(list);
	if (code)
		return err_set(err, ERR_IO, "seek to offset %" PRId64 " of %s/%" PRId32 ": %s",
			       position->offset, consumer->options.topic, position->partition,
			       rd_kafka_err2str(code));
	return true;
}

bool kafka_consumer_query_range(struct kafka_consumer *consumer, int32_t partition,
				int64_t *ret_first, int64_t *ret_end, struct err *err)
{
	rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__TIMED_OUT;

	if (!check_open(consumer, err))
		return false;
	for (int i = 0; i < CALL_TRIES && code == RD_KAFKA_RESP_ERR__TIMED_OUT; i++)
		if (i == 0 || !cancel_requested(consumer->options.cancel))
			code = rd_kafka_query_watermark_offsets(
				consumer->kafka, consumer->options.topic, partition, ret_first,
				ret_end, CALL_TIMEOUT_MS);
	if (code)
		return err_set(err, ERR_IO, "query offsets of %s/%d: %s", consumer->options.topic,
			       partition, rd_kafka_err2str(code));
	return true;
}

int64_t kafka_consumer_end(struct kafka_consumer *consumer, int32_t partition)
{
	int64_t first, end;

	if (!consumer->kafka ||
	    rd_kafka_get_watermark_offsets(consumer->kafka, consumer->options.topic, partition,
					   &first, &end))
		return -1;
	return end;
}

void kafka_consumer_query_ends(struct kafka_consumer *consumer, struct kafka_position *positions,
			       size_t count)
{
	if (!consumer->kafka)
		return;

	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);

	for (size_t i = 0; i < count; i++)
		rd_kafka_topic_partition_list_add(list, consumer->options.topic,
						  positions[i].partition)
			->offset = RD_KAFKA_OFFSET_END; /* a special timestamp: the end */
	if (!rd_kafka_offsets_for_times(consumer->kafka, list, RESPONSE_TIMEOUT_MS))
		for (int i = 0; i < list->cnt; i++)
			if (!list->elems[i].err && list->elems[i].offset >= 0)
				positions[i].offset = list->elems[i].offset;
	rd_kafka_topic_partition_list_destroy(list);
}

bool kafka_consumer_pause(struct kafka_consumer *consumer, bool pause, struct err *err)
{
	rd_kafka_topic_partition_list_t *list;
	rd_kafka_resp_err_t code;

	if (!check_open(consumer, err))
		return false;
	code = rd_kafka_assignment(consumer->kafka, &list);
	if (code)
		return err_set(err, ERR_IO, "get the assignment: %s", rd_kafka_err2str(code));
	code = pause ? rd_kafka_pause_partitions(consumer->kafka, list)
		     : rd_kafka_resume_partitions(consumer->kafka, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (code)
		return err_set(err, ERR_IO, "%s partitions: %s", pause ? "pause" : "resume",
			       rd_kafka_err2str(code));
	return true;
}
