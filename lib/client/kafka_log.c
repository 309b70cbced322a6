// SPDX-License-Identifier: Apache-2.0
#include "client/kafka_log.h"

#include "base/log.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>

/* syslog levels, which librdkafka uses; <syslog.h> defines macros that conflict with our names. */
enum { SYSLOG_ERR = 3, SYSLOG_NOTICE = 5 };

/* librdkafka quotes names in its messages, but the logfmt field is quoted already. */
const char *kafka_text(const char *text, char room[static KAFKA_TEXT_MAX])
{
	snprintf(room, KAFKA_TEXT_MAX, "%s", text);
	for (char *c = room; *c; c++)
		if (*c == '"' || *c == '\n')
			*c = '\'';
	return room;
}

void kafka_log(const rd_kafka_t *kafka, int level, const char *fac, const char *text)
{
	char room[KAFKA_TEXT_MAX];
	enum log_level ours = level <= SYSLOG_ERR ? LOG_WARN /* the client continues: a warning */
			      : level <= SYSLOG_NOTICE ? LOG_INFO
						       : LOG_DEBUG;

	(void)kafka;
	log_write(ours, "kafka client", "facility=%s text=\"%s\"", fac, kafka_text(text, room));
}

bool kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value, struct err *err)
{
	char why[KAFKA_TEXT_MAX];

	if (rd_kafka_conf_set(conf, name, value, why, sizeof(why)) != RD_KAFKA_CONF_OK)
		return err_set(err, ERR_INVALID, "Kafka setting %s=%s: %s", name, value, why);
	return true;
}
