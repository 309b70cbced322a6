// SPDX-License-Identifier: Apache-2.0
#include "server/http/url.h"

#include "base/vec.h"
#include "server/limits.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool url_decode(str text, bool is_query, struct arena *arena, str *ret_text, struct err *err)
{
	char *out = arena_array(arena, char, text.len + 1);
	size_t len = 0;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '%') {
			int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
			int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;

			if (high < 0 || low < 0)
				return err_set(err, ERR_INVALID,
					       "a %% in the URL is not followed by two hex digits");
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+' && is_query) {
			c = ' ';
		}
		out[len++] = c;
	}
	*ret_text = (str){ out, len };
	return true;
}

bool url_query_parse(str query, struct arena *arena, struct http_param **ret_params,
		     size_t *ret_count, struct err *err)
{
	VEC(struct http_param) params = { 0 };

	while (query.len) {
		str value = str_cut(&query, '&');
		str name = str_cut(&value, '=');
		struct http_param param;

		if (name.len == 0 && value.len == 0)
			continue;
		if (params.len == HTTP_PARAMS_MAX)
			return err_set(err, ERR_INVALID, "the URL has more than %d parameters",
				       HTTP_PARAMS_MAX);
		if (!url_decode(name, true, arena, &param.name, err) ||
		    !url_decode(value, true, arena, &param.value, err))
			return false;
		*vec_push(arena, &params) = param;
	}
	*ret_params = params.items;
	*ret_count = params.len;
	return true;
}
