#include "json_answer.h"

#include "chassis/json.h"

static void finish(struct buf *out, struct http_response *res)
{
	buf_u8(out, '\n');
	res->content_type = "application/json";
	res->body = buf_bytes(out);
}

void json_answer_list(struct arena *arena, const str *items, size_t count,
		      struct http_response *res)
{
	struct buf out = { .arena = arena };
	struct json json = { .out = &out };

	json_object(&json);
	json_key(&json, STR("status"));
	json_str(&json, STR("success"));
	json_key(&json, STR("data"));
	json_array(&json);
	for (size_t i = 0; i < count; i++)
		json_str(&json, items[i]);
	json_end_array(&json);
	json_end_object(&json);
	finish(&out, res);
}

void json_answer_error(struct arena *arena, const char *type, const char *sentence,
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
	finish(&out, res);
}
