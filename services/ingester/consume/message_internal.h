// SPDX-License-Identifier: Apache-2.0
/*
 * message - processes one Kafka message: deduplicates, decodes and buffers it.
 */
#pragma once

#include "ingester/consume/consume.h"

/*
 * Add the record's samples to the buffer of its partition; or send the record to the rejected
 * topic; or drop it as a duplicate. Then advance the buffer. False: PostgreSQL or Kafka is
 * unavailable and the buffer did not advance; call again with the same record.
 */
bool message_process(struct consume *consume, struct partition_buffer *buffer,
		     const struct kafka_record *record, struct err *err) MUST_CHECK;
