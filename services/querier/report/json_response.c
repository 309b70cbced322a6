// SPDX-License-Identifier: Apache-2.0
#include "querier/report/json_response.h"

static void put_strings(struct json *json, const str *items, size_t count)
{
	json_array(json);
	for (size_t i = 0; i < count; i++)
		json_str(json, items[i]);
	json_end_array(json);
}

void json_response_begin(struct json_response *response, struct arena *arena)
{
	struct json *json = &response->json;

	response->out = (struct buf){ .arena = arena };
	*json = (struct json){ .out = &response->out };
	json_object(json);
	json_key(json, STR("status"));
	json_str(json, STR("success"));
	json_key(json, STR("data"));
}

str json_response_end(struct json_response *response, const struct query_stats *stats)
{
	json_key(&response->json, STR("stats"));
	query_stats_write(stats, &response->json);
	json_end_object(&response->json);
	buf_u8(&response->out, '\n');
	return buf_bytes(&response->out);
}

void json_response_warnings(struct json *json, const str *warnings, size_t count)
{
	if (count == 0)
		return;
	json_key(json, STR("warnings"));
	put_strings(json, warnings, count);
}

str json_response_warnings_text(struct arena *arena, const str *warnings, size_t count)
{
	struct buf out = { .arena = arena };
	struct json json = { .out = &out };

	put_strings(&json, warnings, count);
	return buf_bytes(&out);
}

void json_response_metric(struct json *json, str type, struct labels labels)
{
	json_object(json);
	if (type.len) {
		json_key(json, STR("__name__"));
		json_str(json, type);
	}
	for (size_t i = 0; i < labels.len; i++) {
		json_key(json, labels.items[i].name);
		json_str(json, labels.items[i].value);
	}
	json_end_object(json);
}

void json_response_labels(struct json *json, struct labels labels)
{
	json_response_metric(json, (str){ 0 }, labels);
}

void json_response_list(struct arena *arena, const str *items, size_t count,
			const struct query_stats *stats, struct http_response *res)
{
	struct json_response response;

	json_response_begin(&response, arena);
	put_strings(&response.json, items, count);
	res->content_type = "application/json";
	res->body = json_response_end(&response, stats);
}
