// SPDX-License-Identifier: Apache-2.0
/*
 * lag - how far behind Kafka each partition is, for the metrics.
 *
 * Consumer thread only.
 */
#pragma once

#include "consume.h"

/* Tell it of all partitions that are ours. While reading is paused Kafka is asked, for a second. */
void lag_observe(struct consume *consume);

/* They are ours no more. */
void lag_forget(const struct consume *consume);
