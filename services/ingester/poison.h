// SPDX-License-Identifier: Apache-2.0
/*
 * culprit - finds the messages whose data PostgreSQL refuses.
 *
 * Nothing that the decoder lets through should be refused; but if it were, the flush that holds it
 * would fail for ever, and all partitions with it. So all is dropped and read again, and half as
 * many messages are flushed; of the half that must hold the culprit then again half, down to the
 * one that is refused alone. It is read once more and rejected, and flushes are whole again until
 * the next one is refused: some log2(messages) flushes for each poison.
 *
 *     refused 8:  [1 2 3 4] stored  [5 6] refused  [5] stored  [6] refused: the culprit  [7 8 ...]
 *
 * Kafka may bring the partitions in another order each time, so "the half that must hold it" is
 * only likely to. Whatever is stored is progress, and whatever is refused is halved: it ends all
 * the same. Pure; consumer thread only.
 */
#pragma once

#include "base/base.h"
#include "ingester_limits.h"

struct poison_message {
	int32_t partition;
	int64_t offset;
	bool is_reported; /* it is in the rejected topic: once is enough, however often it is read
			   */
};

struct poison {
	uint64_t limit; /* messages that the next flush may hold; 0: as many as there are */
	/* private */
	uint64_t suspects;                                /* messages, one of which is refused */
	struct poison_message known[POISON_MESSAGES_MAX]; /* a ring: found, and not stored yet */
	size_t found;                                     /* so far */
};

enum poison_step {
	POISON_BISECT,    /* drop all and read it again: less will be flushed at a time */
	POISON_FOUND,     /* drop all and read it again: the culprit will be rejected */
	POISON_NOT_FOUND, /* it was rejected and the flush is refused still: wait, as for an outage
			   */
};

/* A flush of `messages` was refused; the last of them, if it is one, stands at the offset. */
enum poison_step poison_flush_rejected(struct poison *poison, uint64_t messages, int32_t partition,
				       int64_t offset);

/* A flush of `messages` was stored. */
void poison_flush_stored(struct poison *poison, uint64_t messages);

/* The partition is stored up to there: what was found below it will not be read again. */
void poison_advance(struct poison *poison, int32_t partition, int64_t next);

/* The message, where it is one that was found; else NULL. */
struct poison_message *poison_find(struct poison *poison, int32_t partition, int64_t offset);
