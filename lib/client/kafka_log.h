// SPDX-License-Identifier: Apache-2.0
/*
 * kafka_log - librdkafka's own lines in our log, and its settings with our errors.
 */
#pragma once

#include "base/err.h"

struct rd_kafka_conf_s;
struct rd_kafka_s;

enum { KAFKA_TEXT_MAX = 256 };

/* The text without what would break a quoted field of a log line. */
const char *kafka_text(const char *text, char room[static KAFKA_TEXT_MAX]);

/* The log callback (rd_kafka_conf_set_log_cb). */
void kafka_log(const struct rd_kafka_s *kafka, int level, const char *fac, const char *text);

bool kafka_conf_set(struct rd_kafka_conf_s *conf, const char *name, const char *value,
		    struct err *err) MUST_CHECK;
