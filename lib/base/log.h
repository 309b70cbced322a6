// SPDX-License-Identifier: Apache-2.0
/*
 * log - one line of logfmt per event on stderr.
 *
 *     log_info("batch stored", "rows=%zu took_ms=%" PRIu64, rows, ms);
 *     -> ts=2026-08-22T10:00:00.123Z level=info svc=ingester msg="batch stored" rows=512 took_ms=9
 *
 * The message is a constant you can grep for; what varies goes in the fields.
 */
#pragma once

#include "base/base.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVEL_COUNT };

/* "debug", ... "error", by level. */
extern const char *const log_level_names[LOG_LEVEL_COUNT];

void log_init(const char *service, enum log_level level);
void log_write(enum log_level level, const char *msg, const char *fields, ...) PRINTF_LIKE(3, 4);

#define log_debug(msg, ...) log_write(LOG_DEBUG, msg, "" __VA_ARGS__)
#define log_info(msg, ...)  log_write(LOG_INFO, msg, "" __VA_ARGS__)
#define log_warn(msg, ...)  log_write(LOG_WARN, msg, "" __VA_ARGS__)
#define log_error(msg, ...) log_write(LOG_ERROR, msg, "" __VA_ARGS__)
