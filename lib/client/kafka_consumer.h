// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_consumer - a member of a Kafka consumer group that stores its offsets elsewhere.
 *
 * A wrapper of librdkafka. Kafka assigns partitions; the caller supplies the start offset of each,
 * because the next offset is stored together with the data. It is never reset automatically: an
 * offset that the topic does not have is reported as KAFKA_OUT_OF_RANGE.
 *
 * The start offsets are also committed to Kafka, but only as a mark: Kafka removes committed
 * offsets with their topic. librdkafka goes on reading at the same offset if a topic is deleted and
 * created again; kafka_consumer_check_topic() notices it by the missing mark.
 *
 * One thread owns a consumer, whose struct must not move while it is open. `assigned` and `revoked`
 * are called on that thread, inside kafka_consumer_poll(), kafka_consumer_restart() and
 * kafka_consumer_close(). Before each new assignment all partitions of the
 * previous one are revoked.
 */
#pragma once

#include "base/cancel.h"
#include "base/err.h"
#include "base/str.h"

enum { KAFKA_FROM_BEGINNING = -2 };

struct kafka_position {
	int32_t partition;
	int64_t offset; /* of the next message to read, or KAFKA_FROM_BEGINNING */
};

struct kafka_consumer_options {
	const char *brokers, *topic, *group, *client_id;
	uint64_t queue_max_kbytes; /* limit of messages fetched ahead; 0: 16 MiB */
	uint64_t session_ms;       /* session timeout of the group; 0: 10 s */
	/* Set the offset of each position. May block, but must return within max.poll.interval (5
	 * minutes). False: read no partition (the process is shutting down). */
	bool (*assigned)(void *self, struct kafka_position *positions, size_t count);
	void (*revoked)(void *self);
	void *self;
	const struct cancel *cancel; /* ends retries of broker requests; NULL: not cancellable */
};

/* The longest that a call, apart from `assigned`, takes after a cancellation. */
enum { KAFKA_CANCEL_MS = 2000 };

struct kafka_consumer {
	/* private */
	struct rd_kafka_s *kafka;              /* NULL: closed */
	bool is_assigned;                      /* `revoked` was not called since `assigned` */
	bool is_marked;                        /* Kafka has confirmed the mark */
	char mark[48];                         /* metadata of the committed offsets */
	struct kafka_consumer_options options; /* its strings are borrowed from the caller */
};

/* One message. Its strings are valid until kafka_record_done(). */
struct kafka_record {
	int32_t partition;
	int64_t offset;
	int64_t timestamp_ms; /* -1: none */
	str key, value;
	struct rd_kafka_message_s *message; /* private */
};

enum kafka_event {
	KAFKA_TIMEOUT,       /* no event within timeout_ms */
	KAFKA_RECORD,        /* a message: the caller owns *ret_record */
	KAFKA_END,           /* all messages before this offset of the partition were returned; both
			      * are set. It may be higher than that of the last message plus one */
	KAFKA_OUT_OF_RANGE,  /* the topic does not have the offset; partition and offset are set */
	KAFKA_CORRUPT_BATCH, /* a batch cannot be decompressed, now or later; partition and offset
			      * of its first message are set. Reported again until another offset is
			      * read */
	KAFKA_ERROR,         /* a temporary error, in err; the client recovers by itself */
};

/*
 * Create the client and join the group; does not wait for a broker. ERR_INVALID: a setting was
 * rejected. ERR_IO: librdkafka could not start or subscribe. After a failure the consumer is
 * closed.
 */
bool kafka_consumer_open(struct kafka_consumer *consumer,
			 const struct kafka_consumer_options *options, struct err *err) MUST_CHECK;

/* Revoke all partitions, leave the group and close; `revoked` is called if partitions are assigned.
 * Takes about 3 s at most, 1 s if Kafka is unreachable, and KAFKA_CLOSE_MS more if librdkafka
 * hangs ("client/kafka_close.h"). A zeroed or closed consumer is accepted. */
void kafka_consumer_close(struct kafka_consumer *consumer);

/* Wait up to timeout_ms for an event. A consumer that a failed restart has closed is opened again;
 * KAFKA_ERROR after timeout_ms: this failed. */
enum kafka_event kafka_consumer_poll(struct kafka_consumer *consumer, uint64_t timeout_ms,
				     struct kafka_record *ret_record, struct err *err) MUST_CHECK;

/* Free a record. A zeroed or freed record is accepted. */
void kafka_record_done(struct kafka_record *record);

/* The value of the last header with this name; a NULL ptr if there is none. Valid until
 * kafka_record_done(). */
str kafka_record_header(const struct kafka_record *record, const char *name);

/*
 * Restart all assigned partitions, as if they had been revoked and assigned again: for a caller
 * that could not store the messages, or must read from other offsets. `is_stopped`: a partition was
 * out of range, after which librdkafka no longer reads it. The consumer then leaves and rejoins the
 * group, because only a new assignment reads the partition again. Failures are those of
 * kafka_consumer_open(), or ERR_IO; if the consumer was closed by the failure, a further call opens
 * it.
 */
bool kafka_consumer_restart(struct kafka_consumer *consumer, bool is_stopped,
			    struct err *err) MUST_CHECK;

enum kafka_topic_state {
	KAFKA_TOPIC_SAME,
	KAFKA_TOPIC_REPLACED, /* or the partitions were assigned to another consumer since */
	KAFKA_TOPIC_UNKNOWN,  /* no response from the group's coordinator, now or at the start */
};

/*
 * Whether all messages that were read since `assigned` was called are of one topic. Blocks for up
 * to a second. After KAFKA_TOPIC_REPLACED, restart: the mark is set again then.
 */
enum kafka_topic_state kafka_consumer_check_topic(struct kafka_consumer *consumer) MUST_CHECK;

/* Read an assigned partition from another offset; messages of it that were fetched before are not
 * delivered. Blocks for up to 2 s. ERR_IO, the only failure: no response, or the client is closed.
 */
bool kafka_consumer_seek(struct kafka_consumer *consumer, const struct kafka_position *position,
			 struct err *err) MUST_CHECK;

/*
 * Query the first offset that the broker has, and the offset after the last one. Blocks for up to 2
 * s per attempt, 5 attempts at most. ERR_IO, the only failure: no response, or an error of the
 * broker.
 */
bool kafka_consumer_query_range(struct kafka_consumer *consumer, int32_t partition,
				int64_t *ret_first, int64_t *ret_end, struct err *err) MUST_CHECK;

/* The end offset of the last fetch, without a request: for the lag. -1: not known yet. */
int64_t kafka_consumer_end(struct kafka_consumer *consumer, int32_t partition);

/*
 * Query the brokers for the end offsets, for up to a second; an offset without a response is left
 * unchanged. For a paused consumer, which does not fetch.
 */
void kafka_consumer_query_ends(struct kafka_consumer *consumer, struct kafka_position *positions,
			       size_t count);

/* Pause or resume fetching of all assigned partitions. ERR_IO, the only failure, also of a closed
 * consumer: retry. */
bool kafka_consumer_pause(struct kafka_consumer *consumer, bool pause, struct err *err) MUST_CHECK;
