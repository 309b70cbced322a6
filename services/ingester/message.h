// SPDX-License-Identifier: Apache-2.0
/*
 * take - one message: is it new, what is in it, where does it go.
 */
#pragma once

#include "consume.h"

/*
 * Take the record into its part, or reject it, or drop it as a duplicate; then advance the buffer.
 * False: not dealt with (PostgreSQL or Kafka away): try again with the same record.
 */
bool message_process(struct consume *consume, struct partition_buffer *buffer,
		     const struct kafka_record *record, struct err *err) MUST_CHECK;
