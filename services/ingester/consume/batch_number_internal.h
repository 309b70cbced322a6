// SPDX-License-Identifier: Apache-2.0
/*
 * batch_number - the sequence number of a batch, parsed from the headers of a Kafka message.
 *
 * Our agents send the host id (the message's key), the epoch of their spool (`decima-epoch`) and
 * the batch's sequence number within that spool (`decima-seq`). Third-party producers send no such
 * header: their messages are deduplicated by Kafka offset alone. A message with only one of the two
 * headers, or with a malformed one, is an error. No I/O,
 * any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct batch_number {
	bool is_present; /* false: the message has neither header */
	str host;
	uint64_t epoch, sequence; /* 1 to INT64_MAX - 1 */
};

/*
 * Parses the three texts as received; a NULL ptr is an absent header. ret_number->host borrows from
 * `key`. ERR_INVALID, the only error: one of the two headers is missing or is not a positive
 * decimal number below INT64_MAX, or the key is not a host id (1 to HOST_ID_MAX bytes of UTF-8
 * without NUL); *ret_number is then unchanged.
 */
bool batch_number_parse(str key, str epoch, str sequence, struct batch_number *ret_number,
			struct err *err) MUST_CHECK;
