// SPDX-License-Identifier: Apache-2.0
/*
 * json - a JSON writer into a buf.
 *
 * It inserts commas and escapes text; each byte that is not part of valid UTF-8 is written as
 * U+FFFD. "<" is escaped as well, so that the output can be embedded in an HTML page. The caller
 * must pair json_object() with json_end_object() and write a key before each value of an object;
 * the writer does not check this. Texts are copied; the output is in the arena of `out`. No
 * function fails. One thread.
 *
 *     struct json json = { .out = &buf };
 *     json_object(&json);
 *     json_key(&json, STR("status"));
 *     json_str(&json, STR("success"));
 *     json_end_object(&json);
 */
#pragma once

#include "base/buf.h"

struct json {
	struct buf *out;
	bool need_comma; /* private */
};

void json_object(struct json *json);
void json_end_object(struct json *json);
void json_array(struct json *json);
void json_end_array(struct json *json);
void json_key(struct json *json, str key);
void json_str(struct json *json, str value);
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
/* 15 significant digits; NaN and infinity, which JSON lacks, are written as null. */
void json_double(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
