// SPDX-License-Identifier: Apache-2.0
/*
 * assignment - the Kafka partitions assigned to this ingester, and the offset to read each from.
 *
 * Kafka assigns and revokes partitions. PostgreSQL alone stores the offsets to start from. When an
 * assignment ends, the messages that were read and not yet flushed are dropped. Consumer thread
 * only; Kafka's callbacks run inside kafka_consumer_poll().
 */
#pragma once

#include "ingester/consume/consume.h"

/*
 * Callbacks of the Kafka consumer; `self` is the struct consume. assignment_on_assigned() sets each
 * position's offset and waits until PostgreSQL can be read; false: the daemon is stopping.
 */
bool assignment_on_assigned(void *self, struct kafka_position *positions, size_t count);
void assignment_on_revoked(void *self);

/* The buffer of a partition; NULL: the partition is not assigned to us, or no longer. */
struct partition_buffer *assignment_buffer(const struct consume *consume, int32_t partition);

/*
 * Drop all buffered data and read it again from the offsets in PostgreSQL. `is_stopped`: the offset
 * of a partition is out of range, so Kafka has to assign the partitions again.
 */
void assignment_restart(struct consume *consume, bool is_stopped);

/*
 * The topic does not have the next offset of this partition, or (`is_foreign`) has another message
 * at a remembered offset. Log and count the reason, then continue at the topic's first offset.
 */
void assignment_seek(struct consume *consume, const struct partition_buffer *buffer,
		     bool is_foreign);

/*
 * The record batch that begins at `base` cannot be decompressed: find its end and continue there.
 * This takes several fetches, and each is an assignment_restart(). Kafka's response to a fetch is
 * either this error again, or a message, which goes to assignment_readable().
 */
void assignment_unreadable(struct consume *consume, const struct partition_buffer *buffer,
			   int64_t base);

/*
 * A message of the partition in consume->unreadable was received. True: the search has ended and
 * the message must be processed. False: the caller must call assignment_restart().
 */
bool assignment_readable(struct consume *consume, int64_t offset);

/* Release all buffers and forget all hosts. */
void assignment_drop(struct consume *consume);
