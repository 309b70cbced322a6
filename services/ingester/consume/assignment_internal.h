// SPDX-License-Identifier: Apache-2.0
/*
 * assignment - the Kafka partitions assigned to this ingester, and the offset to read each from.
 *
 * Kafka assigns and revokes partitions. PostgreSQL alone stores the offsets to start from. When an
 * assignment ends, the messages that were read and not yet flushed are dropped: whichever ingester
 * gets the partition reads them again. Consumer thread only; the consumer calls the callbacks from
 * inside its own functions. No function returns an error: failures are logged and retried every
 * RETRY_MS until the daemon stops.
 */
#pragma once

#include "ingester/consume/consume.h"

/*
 * Callback of the Kafka consumer; `self` is the struct consume. Replaces the buffers by new ones,
 * of the assigned partitions, and sets the offset of each position. Waits until PostgreSQL can be
 * read. False: the daemon is stopping; there are no buffers.
 */
bool assignment_on_assigned(void *self, struct kafka_position *positions, size_t count);

/* Callback of the Kafka consumer; `self` is the struct consume. Drops all buffers. */
void assignment_on_revoked(void *self);

/* The buffer of a partition, valid until the assignment ends. NULL: the partition is not assigned
 * to this ingester. */
struct partition_buffer *assignment_buffer(const struct consume *consume, int32_t partition);

/*
 * Restarts reading: drops all buffers and hosts, and reads again from the offsets in PostgreSQL.
 * Pointers to buffers are invalid afterwards. `is_stopped`: the offset of a partition is out of
 * range, so Kafka has to assign the partitions again. Returns without effect if the daemon stops.
 */
void assignment_restart(struct consume *consume, bool is_stopped);

/*
 * Call it if Kafka reports that the topic does not have the next offset of this partition. Queries
 * the ranges of all partitions, sets a seek override to the topic's first offset for each one that
 * does not fit, logs and counts the reason, and restarts reading once. If the topic does have the
 * offset (a starting broker may report the contrary), or the range is unknown, waits RETRY_MS and
 * restarts reading.
 */
void assignment_out_of_range(struct consume *consume, const struct partition_buffer *buffer);

/*
 * Call it if partition_buffer_check() found another message at the remembered offset: sets a seek
 * override to the topic's first offset, and reads this partition from there. Pointers to buffers
 * are invalid afterwards, because all partitions are restarted if the seek fails.
 */
void assignment_foreign(struct consume *consume, struct partition_buffer *buffer);

/*
 * Call it for each report that the record batch that begins at `base` cannot be decompressed: makes
 * one step of the search for the end of the batch ("ingester/consume/unreadable_internal.h").
 * Buffers with changes are flushed first, and Kafka reports the batch again. Each step ends with
 * assignment_restart(). Kafka's response to the next fetch is this error again, or a message, which
 * the caller passes to assignment_readable().
 */
void assignment_unreadable(struct consume *consume, const struct partition_buffer *buffer,
			   int64_t base);

/*
 * Call it if a message of the partition in consume->unreadable was received. True: the search has
 * ended and the caller must process the message. False: the caller must drop the message and call
 * assignment_restart().
 */
bool assignment_readable(struct consume *consume, const struct partition_buffer *buffer,
			 int64_t offset);

/* Frees all buffers and hosts, and clears their metrics. Accepts a consume without buffers. */
void assignment_drop(struct consume *consume);
