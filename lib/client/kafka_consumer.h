// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_consumer - one member of a consumer group, which keeps its offsets elsewhere (librdkafka).
 *
 * Kafka says which partitions are ours; where to begin in each is the caller's to say, because the
 * next offset is kept with the data. Nothing is ever committed to Kafka, nothing is reset by
 * itself: an offset that the topic no longer has comes back as KAFKA_OUT_OF_RANGE.
 *
 * One thread owns it. `assigned` and `revoked` are called on that thread, inside
 * kafka_consumer_poll() and kafka_consumer_close(). Every assignment is a new one: all that was
 * ours before has been revoked.
 */
#pragma once

#include "base/err.h"
#include "base/stop.h"
#include "base/str.h"

enum { KAFKA_FROM_BEGINNING = -2 };

struct kafka_position {
	int32_t partition;
	int64_t offset; /* to be read next, or KAFKA_FROM_BEGINNING */
};

struct kafka_consumer_options {
	const char *brokers, *topic, *group, *client_id;
	uint64_t queue_max_kbytes; /* fetched and not read yet; 0: 16 MiB */
	uint64_t session_ms;       /* without a sign of life we are out of the group; 0: 10 s */
	/* Fill in each offset. May take its time, as long as it ends before max.poll.interval (5
	 * minutes). False: begin nowhere (we are stopping). */
	bool (*assigned)(void *self, struct kafka_position *positions, size_t count);
	void (*revoked)(void *self);
	void *self;
	const struct stop *stop; /* cuts questions to a broker short; NULL: nobody asks */
};

/* The most that any one call, but for what `assigned` takes, lasts once a stop was asked for. */
enum { KAFKA_STOP_MS = 2000 };

struct kafka_consumer {
	/* private */
	struct rd_kafka_s *kafka;
	struct kafka_consumer_options options; /* its texts are the caller's */
};

/* One message. It lives until kafka_record_done(). */
struct kafka_record {
	int32_t partition;
	int64_t offset;
	int64_t timestamp_ms; /* -1: none */
	str key, value;
	struct rd_kafka_message_s *message; /* private */
};

enum kafka_event {
	KAFKA_NOTHING,      /* until the timeout */
	KAFKA_RECORD,       /* *ret_record is yours */
	KAFKA_OUT_OF_RANGE, /* partition and offset of *ret_record: the topic does not have it */
	KAFKA_UNREADABLE,   /* a batch cannot be unpacked, nor will be: partition, offset of its
			     * first message; told again and again until another is asked for */
	KAFKA_TROUBLE,      /* err says what; it goes on by itself */
};

bool kafka_consumer_open(struct kafka_consumer *consumer,
			 const struct kafka_consumer_options *options, struct err *err) MUST_CHECK;

/* Leave the group and close; revokes what is assigned. A Kafka that is away is not waited for. */
void kafka_consumer_close(struct kafka_consumer *consumer);

enum kafka_event kafka_consumer_poll(struct kafka_consumer *consumer, uint64_t timeout_ms,
				     struct kafka_record *ret_record, struct err *err) MUST_CHECK;
void kafka_record_done(struct kafka_record *record);

/* The last header of that name; a NULL ptr when there is none. */
str kafka_record_header(const struct kafka_record *record, const char *name);

/*
 * Begin again with what is ours, as if it had been revoked and assigned: for when what was read can
 * not be kept, or must be read from elsewhere. `is_stopped`: a partition is out of range, and so
 * not read any more: then the group is left and joined again, for only a new assignment reads it.
 */
bool kafka_consumer_restart(struct kafka_consumer *consumer, bool is_stopped,
			    struct err *err) MUST_CHECK;

/* The first offset that the broker has, and the one after the last. Asks the broker. */
bool kafka_consumer_range(struct kafka_consumer *consumer, int32_t partition, int64_t *ret_first,
			  int64_t *ret_end, struct err *err) MUST_CHECK;

/* The end as the last fetch told it: for lag, costs nothing. -1: not known yet. */
int64_t kafka_consumer_end(struct kafka_consumer *consumer, int32_t partition);

/*
 * The ends as the brokers tell them now, for a second at most; an offset that is not told stays as
 * it is. For a consumer that is paused, whose fetches tell it nothing.
 */
void kafka_consumer_ask_ends(struct kafka_consumer *consumer, struct kafka_position *positions,
			     size_t count);

/* Stop and go on fetching all that is ours. */
bool kafka_consumer_pause(struct kafka_consumer *consumer, bool pause, struct err *err) MUST_CHECK;
