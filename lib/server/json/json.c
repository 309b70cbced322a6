// SPDX-License-Identifier: Apache-2.0
#include "server/json/json.h"

#include <math.h>

/* Write the comma before a value or key, unless it is the first one or follows its key. */
static void separate(struct json *json)
{
	if (json->need_comma)
		buf_u8(json->out, ',');
	json->need_comma = true;
}

static void open_with(struct json *json, char bracket)
{
	separate(json);
	buf_u8(json->out, (uint8_t)bracket);
	json->need_comma = false;
}

static void close_with(struct json *json, char bracket)
{
	buf_u8(json->out, (uint8_t)bracket);
	json->need_comma = true;
}

void json_object(struct json *json)
{
	open_with(json, '{');
}

void json_end_object(struct json *json)
{
	close_with(json, '}');
}

void json_array(struct json *json)
{
	open_with(json, '[');
}

void json_end_array(struct json *json)
{
	close_with(json, ']');
}

static void escape_ascii(struct buf *out, unsigned char c)
{
	static const char short_names[] = "\b"
					  "b"
					  "\f"
					  "f"
					  "\n"
					  "n"
					  "\r"
					  "r"
					  "\t"
					  "t"
					  "\"\"\\\\";

	for (size_t i = 0; i + 1 < sizeof(short_names); i += 2) {
		if ((unsigned char)short_names[i] == c) {
			buf_u8(out, '\\');
			buf_u8(out, (uint8_t)short_names[i + 1]);
			return;
		}
	}
	/* "<" as well, so that JSON embedded in a page cannot close its script element. */
	if (c < 0x20 || c == 0x7f || c == '<')
		buf_format(out, "\\u%04x", (unsigned int)c);
	else
		buf_u8(out, c);
}

static void text(struct buf *out, str value)
{
	const unsigned char *p = (const unsigned char *)value.ptr;

	buf_u8(out, '"');
	for (size_t i = 0; i < value.len;) {
		if (p[i] < 0x80) {
			escape_ascii(out, p[i++]);
			continue;
		}

		size_t len = str_utf8_len(str_skip(value, i));

		if (len == 0)
			buf_str(out, STR("\xef\xbf\xbd"));
		else
			buf_bytes_add(out, p + i, len);
		i += len ? len : 1;
	}
	buf_u8(out, '"');
}

void json_key(struct json *json, str key)
{
	separate(json);
	text(json->out, key);
	buf_u8(json->out, ':');
	json->need_comma = false;
}

void json_str(struct json *json, str value)
{
	separate(json);
	text(json->out, value);
}

void json_u64(struct json *json, uint64_t value)
{
	separate(json);
	buf_format(json->out, "%ju", (uintmax_t)value);
}

void json_i64(struct json *json, int64_t value)
{
	separate(json);
	buf_format(json->out, "%jd", (intmax_t)value);
}

void json_double(struct json *json, double value)
{
	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	separate(json);
	buf_format(json->out, "%.15g", value);
}

void json_bool(struct json *json, bool value)
{
	separate(json);
	buf_str(json->out, value ? STR("true") : STR("false"));
}

void json_null(struct json *json)
{
	separate(json);
	buf_str(json->out, STR("null"));
}
