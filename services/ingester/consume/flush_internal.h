// SPDX-License-Identifier: Apache-2.0
/*
 * flush - writes the partition buffers to the store.
 *
 * A flush is due at an interval, or earlier if the buffers exceed 1 / BUFFER_SHARE of the memory
 * limit, if the host cache is full, or if a search for a poison message limits the flush. After a
 * failed flush the buffers keep their data, and flush_if_due() tries again after a delay, which
 * doubles from RETRY_MS to 10 s. If the buffers exceed their part of the memory limit at a failure,
 * reading from Kafka is paused until a flush succeeds. Consumer thread only.
 */
#pragma once

#include "ingester/consume/consume.h"

/*
 * Calls flush_all() if a flush is due, and updates consume->state and the metrics. A failure is
 * logged and counted; a later call tries again.
 */
void flush_if_due(struct consume *consume);

/*
 * Stores all buffers with changes, now. True: each of these buffers was stored and is empty; or
 * reading was restarted with assignment_restart(), which drops all buffers, so that Kafka delivers
 * their messages again from the offsets in PostgreSQL. Reading is restarted after a reconnect to
 * PostgreSQL, if another ingester has stored one of the partitions, or to search for a poison
 * message. The caller need not do anything. False: nothing was stored and the buffers are
 * unchanged; call again later. ERR_IO: PostgreSQL failed. ERR_INVALID: PostgreSQL rejected the
 * data, and no message could be found that causes it.
 */
bool flush_all(struct consume *consume, struct err *err) MUST_CHECK;
