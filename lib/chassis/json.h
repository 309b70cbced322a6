// SPDX-License-Identifier: Apache-2.0
/*
 * json - writing JSON into a buf. Commas are put where they belong; text is escaped, and what is
 * not UTF-8 is written as U+FFFD.
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
/* 15 digits; JSON has no NaN and no infinity: null. */
void json_double(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
