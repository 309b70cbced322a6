// SPDX-License-Identifier: Apache-2.0
#include "server/json/json_error.h"

#include "server/json/json.h"

void json_error(struct arena *arena, const char *type, const char *sentence,
		struct http_response *res)
{
	struct buf out = { .arena = arena };
	struct json json = { .out = &out };

	json_object(&json);
	json_key(&json, STR("status"));
	json_str(&json, STR("error"));
	json_key(&json, STR("errorType"));
	json_str(&json, str_from(type));
	json_key(&json, STR("error"));
	json_str(&json, str_from(sentence));
	json_end_object(&json);
	buf_u8(&out, '\n');
	res->content_type = "application/json";
	res->body = buf_bytes(&out);
}
