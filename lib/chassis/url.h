// SPDX-License-Identifier: Apache-2.0
/*
 * url - percent-encoding and query strings, as browsers and curl write them.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* A name and its value: of a query, or of a header. */
struct http_param {
	str name, value;
};

/* The text without percent-encoding; in a query "+" is a space. ERR_INVALID: "%" without two hex
 * digits. */
bool url_decode(str text, bool is_query, struct arena *arena, str *ret_text,
		struct err *err) MUST_CHECK;

/* "a=1&b=2" into decoded pairs, in order; a name without "=" has an empty value. */
bool url_query_parse(str query, struct arena *arena, struct http_param **ret_params,
		     size_t *ret_count, struct err *err) MUST_CHECK;
