// SPDX-License-Identifier: Apache-2.0
#include "client/kafka_producer.h"

#include "base/liveness.h"
#include "base/log.h"
#include "client/kafka_close.h"
#include "client/kafka_log.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <sys/prctl.h>

enum {
	TIMER_SLACK_NS = 10000000,
	QUEUE_DEFAULT_KBYTES = 16 << 10,
	PURGE_TIMEOUT_MS = 500, /* for the reports of messages that are discarded at the close */
};

/*
 * batch.num.messages=1: our messages are large, so batching gains nothing, and a message that the
 * broker rejects for its size does not fail others. message.timeout.ms=0: a message is kept until
 * it is stored or rejected; the sender has its own copy and would only send it again. librdkafka
 * adds a jitter of a quarter to half to the reconnect backoff. murmur2 maps a key to the same
 * partition as Java clients do.
 */
static const struct {
	const char *name, *value;
} settings[] = {
	{ "acks", "all" },
	{ "allow.auto.create.topics", "false" },
	{ "batch.num.messages", "1" },
	{ "compression.codec", "zstd" },
	{ "enable.idempotence", "true" },
	{ "linger.ms", "0" },
	{ "log.connection.close", "false" },
	{ "message.max.bytes", "67108864" },
	{ "message.timeout.ms", "0" },
	{ "partitioner", "murmur2_random" },
	{ "reconnect.backoff.max.ms", "5000" },
	{ "socket.keepalive.enable", "true" },
};

static void on_error(rd_kafka_t *kafka, int code, const char *reason, void *self)
{
	struct kafka_producer *producer = self;
	char room[KAFKA_TEXT_MAX];

	if (code == RD_KAFKA_RESP_ERR__FATAL)
		producer->broken = true;
	/* librdkafka has logged a lost connection itself. */
	log_write(code == RD_KAFKA_RESP_ERR__TRANSPORT ? LOG_DEBUG : LOG_WARN,
		  "kafka producer error", "client=%s code=%s reason=\"%s\"", rd_kafka_name(kafka),
		  rd_kafka_err2name(code), kafka_text(reason, room));
}

/* A retry of the message would fail in the same way. */
static bool is_permanent(rd_kafka_resp_err_t code)
{
	return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
	       code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE ||
	       code == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE ||
	       code == RD_KAFKA_RESP_ERR_INVALID_RECORD;
}

static void on_delivery(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *self)
{
	struct kafka_producer *producer = self;
	enum kafka_outcome fate = KAFKA_DELIVERED;
	const char *why = "";

	(void)kafka;
	producer->in_flight--;
	if (message->err) {
		fate = is_permanent(message->err) ? KAFKA_REJECTED : KAFKA_FAILED;
		why = rd_kafka_err2str(message->err);
	}
	producer->options.report(producer->options.self, (uint64_t)(uintptr_t)message->_private,
				 fate, why);
}

static bool conf_fill(rd_kafka_conf_t *conf, const struct kafka_producer_options *options,
		      struct err *err)
{
	uint64_t kbytes =
		options->queue_max_kbytes ? options->queue_max_kbytes : QUEUE_DEFAULT_KBYTES;
	char number[24];

	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (!kafka_conf_set(conf, settings[i].name, settings[i].value, err))
			return false;
	snprintf(number, sizeof(number), "%" PRIu64, kbytes);
	return kafka_conf_set(conf, "bootstrap.servers", options->brokers, err) &&
	       kafka_conf_set(conf, "client.id", options->client_id ? options->client_id : "decima",
			      err) &&
	       kafka_conf_set(conf, "queue.buffering.max.kbytes", number, err);
}

/*
 * librdkafka's threads wait for timers in whole milliseconds and spin for the remaining fraction:
 * half a millisecond per second, more than all their other work when idle. With more timer slack a
 * thread wakes later and finds its timer due. Threads inherit the slack from their creator.
 */
static rd_kafka_t *new_kafka(rd_kafka_conf_t *conf, char *why, size_t room)
{
	int before = prctl(PR_GET_TIMERSLACK);
	bool is_set = before > 0 && prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS) == 0;
	rd_kafka_t *kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, room);

	if (is_set)
		(void)prctl(PR_SET_TIMERSLACK, before);
	return kafka;
}

bool kafka_producer_open(struct kafka_producer *producer,
			 const struct kafka_producer_options *options, struct err *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[KAFKA_TEXT_MAX];

	*producer = (struct kafka_producer){ .options = *options };
	rd_kafka_conf_set_opaque(conf, producer);
	rd_kafka_conf_set_log_cb(conf, kafka_log);
	rd_kafka_conf_set_error_cb(conf, on_error);
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	if (!conf_fill(conf, options, err)) {
		rd_kafka_conf_destroy(conf);
		return false;
	}
	producer->kafka = new_kafka(conf, why, sizeof(why));
	if (!producer->kafka) {
		rd_kafka_conf_destroy(conf); /* ownership was not transferred */
		return err_set(err, ERR_IO, "create a Kafka producer: %s", why);
	}
	return true;
}

/* librdkafka takes non-const pointers, but with RD_KAFKA_MSG_F_COPY it does not write to them. */
static void *unconst(const void *p)
{
	return (void *)(uintptr_t)p; /* NOLINT(performance-no-int-to-ptr): removes const */
}

static bool send_failed(struct kafka_producer *producer, rd_kafka_error_t *error, struct err *err)
{
	rd_kafka_resp_err_t code = rd_kafka_error_code(error);
	bool is_full = code == RD_KAFKA_RESP_ERR__QUEUE_FULL;
	enum err_code ours = ERR_IO;

	/* Full although no message is in flight: the message is larger than the whole queue. */
	if (is_permanent(code) || (is_full && producer->in_flight == 0))
		ours = ERR_INVALID;
	else if (is_full)
		ours = ERR_LIMIT;
	if (code == RD_KAFKA_RESP_ERR__FATAL)
		producer->broken = true;
	err_set(err, ours, "send to Kafka topic %s: %s", producer->options.topic,
		rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
	return false;
}

bool kafka_producer_send(struct kafka_producer *producer, const struct kafka_message *message,
			 struct err *err)
{
	rd_kafka_headers_t *headers = rd_kafka_headers_new(message->header_count);

	for (size_t i = 0; i < message->header_count; i++)
		rd_kafka_header_add(headers, message->headers[i].name, -1,
				    message->headers[i].value.ptr,
				    (ssize_t)message->headers[i].value.len);

	const rd_kafka_vu_t parts[] = {
		{ .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = producer->options.topic },
		{ .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
		{ .vtype = RD_KAFKA_VTYPE_KEY,
		  .u.mem = { unconst(message->key.ptr), message->key.len } },
		{ .vtype = RD_KAFKA_VTYPE_VALUE,
		  .u.mem = { unconst(message->value.ptr), message->value.len } },
		{ .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers },
		{ .vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = unconst((void *)message->token) },
	};
	rd_kafka_error_t *error = rd_kafka_produceva(producer->kafka, parts, ARRAY_LEN(parts));

	if (error) {
		rd_kafka_headers_destroy(headers);
		return send_failed(producer, error, err);
	}
	producer->in_flight++;
	return true;
}

void kafka_producer_poll(struct kafka_producer *producer, uint64_t timeout_ms)
{
	liveness_advance();
	rd_kafka_poll(producer->kafka, (int)timeout_ms);
}

void kafka_producer_close(struct kafka_producer *producer, uint64_t timeout_ms)
{
	if (!producer->kafka)
		return;
	if (rd_kafka_flush(producer->kafka, (int)timeout_ms) != RD_KAFKA_RESP_ERR_NO_ERROR) {
		rd_kafka_purge(producer->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
		rd_kafka_flush(producer->kafka, PURGE_TIMEOUT_MS);
	}
	kafka_close(producer->kafka, 0);
	producer->kafka = NULL;
}
