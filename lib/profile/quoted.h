// SPDX-License-Identifier: Apache-2.0
/*
 * quoted - text in "double", 'single' or `back` quotes, with the escapes of Go and Prometheus.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * Take a quoted text off the front of `rest`, which begins with its quote. What it says is UTF-8
 * without NUL. On ERR_INVALID the rest begins where it went wrong and the message says what is
 * wrong there.
 */
bool quoted_parse(str *rest, struct arena *arena, str *ret_text, struct err *err) MUST_CHECK;
