// SPDX-License-Identifier: Apache-2.0
/*
 * base_limits - the limits of lib/base.
 */
#pragma once

#include "base/limit.h"

#define BASE_LIMITS(LIMIT)                                             \
	LIMIT(LOG_FIELDS_MAX, 1023, BYTES, "all fields of a log line", \
	      "the fields are truncated, `decima_log_lines_truncated_total`")

BASE_LIMITS(LIMIT_CONSTANT)
