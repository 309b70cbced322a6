// SPDX-License-Identifier: Apache-2.0
/*
 * assignment - which partitions are ours, and where reading begins in each.
 *
 * Kafka gives and takes partitions; where to begin is in PostgreSQL alone. What was read of them
 * and not flushed goes with them. Called on the consumer thread, inside the poll.
 */
#pragma once

#include "consume.h"

/* Callbacks of the consumer; self is the struct consume. */
bool assignment_on_assigned(void *self, struct kafka_position *positions, size_t count);
void assignment_on_revoked(void *self);

/* The part of a partition; NULL: it is not ours (any more). */
struct partition_buffer *assignment_buffer(const struct consume *consume, int32_t partition);

/*
 * Drop everything and read it again from the offsets in PostgreSQL. `is_stopped`: a partition is
 * out of range, so that Kafka has to assign anew.
 */
void assignment_restart(struct consume *consume, bool is_stopped);

/*
 * The topic does not have what is next in this part, or (`is_foreign`) has another message where we
 * knew one: say why, and go on where the topic begins.
 */
void assignment_seek(struct consume *consume, const struct partition_buffer *buffer,
		     bool is_foreign);

/*
 * The batch that begins at `base` cannot be unpacked: find where it ends, and go on there. Takes
 * some questions to Kafka, each an assignment_restart(); what is met on the way comes back here or
 * goes to assignment_readable().
 */
void assignment_unreadable(struct consume *consume, const struct partition_buffer *buffer,
			   int64_t base);

/*
 * A message of the partition that consume->unreadable is about. True: it is to be taken, reading
 * goes on with it. False: call assignment_restart().
 */
bool assignment_readable(struct consume *consume, int64_t offset);

/* Forget all that is held. */
void assignment_drop(struct consume *consume);
