// SPDX-License-Identifier: Apache-2.0
/*
 * url - decodes percent-encoding and query strings. Results are allocated in the arena.
 * Any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* A query parameter or a header. */
struct http_param {
	str name, value;
};

/* Decode percent-encoding; in a query "+" is a space. ERR_INVALID: "%" without two hex digits. */
bool url_decode(str text, bool is_query, struct arena *arena, str *ret_text,
		struct err *err) MUST_CHECK;

/* Split "a=1&b=2" into decoded pairs, in order; a name without "=" has an empty value. ERR_INVALID:
 * malformed, or more than HTTP_PARAMS_MAX pairs. */
bool url_query_parse(str query, struct arena *arena, struct http_param **ret_params,
		     size_t *ret_count, struct err *err) MUST_CHECK;
