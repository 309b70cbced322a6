// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_log - helpers that the Kafka clients share: librdkafka's log lines and settings.
 */
#pragma once

#include "base/err.h"

struct rd_kafka_conf_s;
struct rd_kafka_s;

enum { KAFKA_TEXT_MAX = 256 };

/* Copy the text to `room` without quotes and newlines, which would break a quoted log field. */
const char *kafka_text(const char *text, char room[static KAFKA_TEXT_MAX]);

/* A callback for rd_kafka_conf_set_log_cb(): writes to our log. */
void kafka_log(const struct rd_kafka_s *kafka, int level, const char *fac, const char *text);

/* Set a librdkafka setting. ERR_INVALID: it was rejected. */
bool kafka_conf_set(struct rd_kafka_conf_s *conf, const char *name, const char *value,
		    struct err *err) MUST_CHECK;
