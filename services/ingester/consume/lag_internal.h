// SPDX-License-Identifier: Apache-2.0
/*
 * lag - metrics of how far each assigned partition is behind the end of the Kafka topic.
 *
 * Consumer thread only.
 */
#pragma once

#include "ingester/consume/consume.h"

/*
 * Update the metrics of all assigned partitions. While reading is paused, Kafka is queried for the
 * ends of the partitions, which may take up to a second.
 */
void lag_observe(struct consume *consume);

/* Remove the metrics of all partitions: they are no longer assigned to us. */
void lag_forget(const struct consume *consume);
