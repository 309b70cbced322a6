// SPDX-License-Identifier: Apache-2.0
/*
 * message - processes one Kafka message: deduplicates, decodes and buffers it. Consumer thread
 * only.
 */
#pragma once

#include "ingester/consume/consume.h"

/*
 * Adds the record's samples to the buffer of its partition; or sends the record to the rejected
 * topic, also if its number was received with other contents; or drops the record as a duplicate.
 * Then advances the buffer. The samples are copied: the record may be freed afterwards. False:
 * PostgreSQL or Kafka is unavailable (ERR_IO), a Kafka queue is full (ERR_LIMIT), or the host's row
 * is malformed (ERR_INVALID). No samples were added and the buffer did not advance; call again with
 * the same record, which counts nothing twice.
 */
bool message_process(struct consume *consume, struct partition_buffer *buffer,
		     const struct kafka_record *record, struct err *err) MUST_CHECK;
