// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

const char *const log_level_names[LOG_LEVEL_COUNT] = {
	[LOG_DEBUG] = "debug",
	[LOG_INFO] = "info",
	[LOG_WARN] = "warn",
	[LOG_ERROR] = "error",
};
static const char *log_service = "?";
static enum log_level log_threshold = LOG_INFO;

void log_init(const char *service, enum log_level level)
{
	log_service = service;
	log_threshold = level;
}

void log_write(enum log_level level, const char *msg, const char *fields, ...)
{
	struct timespec now;
	struct tm tm;
	char when[32], text[1024];
	va_list args;

	if (level < log_threshold)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(when, sizeof(when), "%FT%T", &tm);
	va_start(args, fields);
	vsnprintf(text, sizeof(text), fields, args);
	va_end(args);
	/* A field may hold untrusted text, which must not start a new log line. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	/* One write per line, so that lines of several threads do not interleave. */
	fprintf(stderr, "ts=%s.%03ldZ level=%s svc=%s msg=\"%s\" %s\n", when, now.tv_nsec / 1000000,
		log_level_names[level], log_service, msg, text);
}
