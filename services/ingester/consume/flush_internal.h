// SPDX-License-Identifier: Apache-2.0
/*
 * flush - writes the partition buffers to the store, at an interval or when memory is short.
 *
 * While the store fails, the buffers keep their data and flushes are retried with a growing delay.
 * If the buffers exceed their share of the memory limit meanwhile, reading from Kafka is paused.
 * Consumer thread only.
 */
#pragma once

#include "ingester/consume/consume.h"

/* Flush if the interval has passed or memory is short. A failure is logged and retried later. */
void flush_if_due(struct consume *consume);

/*
 * True: all buffers are stored, or were dropped and will be read again. False: the store failed and
 * the buffers are unchanged.
 */
bool flush_all(struct consume *consume, struct err *err) MUST_CHECK;
