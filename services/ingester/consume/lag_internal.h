// SPDX-License-Identifier: Apache-2.0
/*
 * lag - metrics of how far the ingester is behind the ends of its Kafka partitions.
 *
 * For each assigned partition, and for all of them together: the number of messages that are in the
 * topic and not read yet. For all partitions together also the largest age,
 * in milliseconds, of the last message read of a partition that has more messages. Consumer thread
 * only. The functions cannot fail and keep no memory.
 */
#pragma once

#include "ingester/consume/consume.h"

/*
 * Updates the metrics of all assigned partitions. The ends are those of the last fetch. While
 * reading is paused there are no fetches, so Kafka is queried for all ends; the call then blocks
 * for up to a second in total. The lag of a partition whose end is unknown is 0.
 */
void lag_observe(struct consume *consume);

/*
 * Queries Kafka, for up to a second. False: a partition has messages that are not stored, or fewer
 * messages than were stored. A partition without a response counts as stored.
 */
bool lag_is_stored(struct consume *consume);

/*
 * Removes the metrics of all partitions in consume->buffers. Called when an assignment ends, before
 * the buffers are released.
 */
void lag_forget(const struct consume *consume);
