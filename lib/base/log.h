// SPDX-License-Identifier: Apache-2.0
/*
 * log - writes one logfmt line per event to stderr.
 *
 *     log_info("batch stored", "rows=%zu took_ms=%" PRIu64, rows, ms);
 *     -> ts=2026-08-22T10:00:00.123Z level=info svc=ingester msg="batch stored" rows=512 took_ms=9
 *
 * The message is a constant, so that it can be searched for; variable values go into the fields.
 * Values may be untrusted: in the text of %s, a quote, a backslash and control characters are
 * escaped, a byte that is not UTF-8 becomes U+FFFD, and a text that logfmt cannot hold bare is
 * written in quotes, unless the format has quotes around it. Only the conversions d, u, x, s, .*s
 * and m are supported (asserted), with the lengths z, j and l. All fields of an event together are
 * truncated to LOG_FIELDS_MAX bytes. Any thread may log. Logging cannot fail; if stderr cannot be
 * written, the line is lost.
 */
#pragma once

#include "base/base.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVEL_COUNT };

/* "debug", ... "error", indexed by level. */
extern const char *const log_level_names[LOG_LEVEL_COUNT];

/* Set `svc` and the lowest level that is written. `service` is kept as a pointer: it must live as
 * long as the process. Call log_init() before the first thread starts. */
void log_init(const char *service, enum log_level level);

/* Write one event. The macros below set the level; `format`, of the
 * fields, may be left out. */
void log_write(enum log_level level, const char *msg, const char *format, ...) PRINTF_LIKE(3, 4);

/* The number of lines written so far whose fields were truncated. Any thread. */
uint64_t log_lines_truncated(void);

#define log_debug(msg, ...) log_write(LOG_DEBUG, msg, "" __VA_ARGS__)
#define log_info(msg, ...)  log_write(LOG_INFO, msg, "" __VA_ARGS__)
#define log_warn(msg, ...)  log_write(LOG_WARN, msg, "" __VA_ARGS__)
#define log_error(msg, ...) log_write(LOG_ERROR, msg, "" __VA_ARGS__)
