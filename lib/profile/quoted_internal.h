// SPDX-License-Identifier: Apache-2.0
/*
 * quoted - parses a text in "double", 'single' or `back` quotes, with the escapes of Go and
 * Prometheus.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * Parse a quoted text at the start of `rest`, which must begin with the quote, and remove it from
 * `rest`. `ret_text` is UTF-8 without NUL, in the arena. ERR_INVALID: `rest` begins at the position
 * of the error.
 */
bool quoted_parse(str *rest, struct arena *arena, str *ret_text, struct err *err) MUST_CHECK;
