// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_log - what all users of librdkafka share: write its log lines to our log, set its settings.
 *
 * Any thread: no function keeps state.
 */
#pragma once

#include "base/err.h"

struct rd_kafka_conf_s;
struct rd_kafka_s;

enum { KAFKA_TEXT_MAX = 256 };

/*
 * Copy the text to the buffer `room`, so that it can stand inside a quoted log field: each double
 * quote and each newline is replaced by a single quote. A longer text is truncated to
 * KAFKA_TEXT_MAX - 1 bytes. Returns `room`.
 */
const char *kafka_text(const char *text, char room[static KAFKA_TEXT_MAX]);

/*
 * The callback for rd_kafka_conf_set_log_cb(), called by librdkafka's threads. Writes the text and
 * `fac`, librdkafka's name of the facility, with log_write(). syslog levels up to 3 (error) are
 * logged as warnings, 4 and 5 as info, higher ones as debug.
 */
void kafka_log(const struct rd_kafka_s *kafka, int level, const char *fac, const char *text);

/* Set a setting of librdkafka, which copies name and value. ERR_INVALID, the only failure: the name
 * is unknown or the value is not allowed; `conf` is unchanged. */
bool kafka_conf_set(struct rd_kafka_conf_s *conf, const char *name, const char *value,
		    struct err *err) MUST_CHECK;
