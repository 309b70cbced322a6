// SPDX-License-Identifier: Apache-2.0
/*
 * log - writes one logfmt line per event to stderr.
 *
 *     log_info("batch stored", "rows=%zu took_ms=%" PRIu64, rows, ms);
 *     -> ts=2026-08-22T10:00:00.123Z level=info svc=ingester msg="batch stored" rows=512 took_ms=9
 *
 * The message is a constant, so that it can be searched for; variable values go into the fields.
 * Any thread may log. Fields longer than 1023 bytes are truncated; control characters in them are
 * written as "?".
 */
#pragma once

#include "base/base.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVEL_COUNT };

/* "debug", ... "error", indexed by level. */
extern const char *const log_level_names[LOG_LEVEL_COUNT];

/* Set `svc` and the lowest level that is written. `service` is borrowed. Before the first thread.
 */
void log_init(const char *service, enum log_level level);
void log_write(enum log_level level, const char *msg, const char *fields, ...) PRINTF_LIKE(3, 4);

#define log_debug(msg, ...) log_write(LOG_DEBUG, msg, "" __VA_ARGS__)
#define log_info(msg, ...)  log_write(LOG_INFO, msg, "" __VA_ARGS__)
#define log_warn(msg, ...)  log_write(LOG_WARN, msg, "" __VA_ARGS__)
#define log_error(msg, ...) log_write(LOG_ERROR, msg, "" __VA_ARGS__)
