// SPDX-License-Identifier: Apache-2.0
/*
 * base_limits - the limits of lib/base.
 */
#pragma once

#include "base/limit.h"

#define BASE_LIMITS(LIMIT)                                                                     \
	LIMIT(LOG_FIELDS_MAX, 1023, BYTES, "all fields of a log line",                         \
	      "the fields are truncated, `decima_log_lines_truncated_total`")                  \
	LIMIT(HEAP_MAPPED_BYTES, 128 << 10, BYTES,                                             \
	      "a block of memory that malloc keeps when it is freed, in the ingester and the " \
	      "symbolizer",                                                                    \
	      "it is returned to the system")                                                  \
	LIMIT(LIVENESS_MS, 25000, MS, "a step of a thread that is watched, without a wait",    \
	      "`/healthy` is 503 and names the thread, until it advances")                     \
	LIMIT(LIVENESS_WAIT_MS, 5000, MS, "a part of a wait of such a thread", PACE)

BASE_LIMITS(LIMIT_CONSTANT)
