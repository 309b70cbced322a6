// SPDX-License-Identifier: Apache-2.0
/*
 * poison - finds poison messages by bisection: messages whose data PostgreSQL rejects.
 *
 * PostgreSQL should accept all data that the decoder accepts. If it rejects one message anyway, the
 * flush of that message would fail forever, and with it the flushes of all partitions. So the
 * caller drops all buffers, reads again, and flushes half as many messages. The half that must hold
 * the poison message is halved again, down to the one message that is rejected alone. That message
 * is read once more and sent to the rejected topic. Then flushes have no limit again until the next
 * one is rejected. Each poison message costs about log2(messages) flushes.
 *
 *     8 rejected:  [1 2 3 4] stored  [5 6] rejected  [5] stored  [6] rejected: poison  [7 8 ...]
 *
 * Kafka may deliver the partitions in another order each time, so the chosen half only probably
 * holds the poison message. The search ends in any case: a stored flush is progress, and a rejected
 * one is halved. No I/O: the caller flushes. The functions cannot fail. {0}
 * is the start. Consumer thread only.
 */
#pragma once

#include "base/base.h"
#include "ingester/ingester_limits.h"

struct poison_message {
	int32_t partition;
	int64_t offset;
	bool is_reported; /* sent to the rejected topic already; it may be read several times */
};

struct poison {
	uint64_t limit; /* flush as soon as this number of messages is buffered; 0: no limit */
	/* private */
	uint64_t suspects; /* messages of which at least one is poison */
	struct poison_message messages[POISON_MESSAGES_MAX]; /* a ring: found, and not passed yet */
	size_t found;                                        /* messages found since the start */
};

enum poison_step {
	POISON_BISECT, /* drop all buffers and read the messages again; the next flush is smaller */
	POISON_FOUND,  /* drop all buffers and read the messages again; poison_find() has the poison
			  message */
	/* No message is at fault, or the one message was found before: back off as in an outage. */
	POISON_NOT_FOUND,
};

/*
 * Call it if PostgreSQL rejected a flush of `messages` messages. If `messages` is 1, `partition`
 * and `offset` are those of the message; otherwise they are not used.
 */
enum poison_step poison_flush_rejected(struct poison *poison, uint64_t messages, int32_t partition,
				       int64_t offset);

/* Call it if a flush of `messages` messages was stored. */
void poison_flush_stored(struct poison *poison, uint64_t messages);

/* Call it if the partition is stored up to, not including, `next`: forgets the messages found
 * below. */
void poison_advance(struct poison *poison, int32_t partition, int64_t next);

/* The poison message found at this offset, or NULL. Valid until the next call of another function;
 * the caller sets is_reported. */
struct poison_message *poison_find(struct poison *poison, int32_t partition, int64_t offset);
