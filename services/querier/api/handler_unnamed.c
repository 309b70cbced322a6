// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/unnamed: what part of a profile has no function names, and what gives them.
 */
#include "profile/profile_type.h"
#include "querier/api/query_result_internal.h"
#include "querier/report/json_response.h"
#include "querier/report/unnamed.h"

static void put_number(struct json *json, str key, int64_t value)
{
	json_key(json, key);
	json_i64(json, value);
}

static void put_text(struct json *json, str key, str text)
{
	json_key(json, key);
	json_str(json, text);
}

static void put_row(struct json *json, const struct unnamed_row *row)
{
	bool is_known = row->reason == NAME_KNOWN;

	json_object(json);
	put_text(json, STR("binary"), row->binary);
	put_text(json, STR("reason"),
		 is_known ? STR("no symbolizer was asked")
			  : str_from(name_reason_text[row->reason]));
	put_text(json, STR("reason_code"),
		 is_known ? STR("not_symbolized") : str_from(name_reason_names[row->reason]));
	put_text(json, STR("remedy"), str_from(unnamed_remedies[row->reason]));
	put_number(json, STR("self"), row->value);
	json_end_object(json);
}

static bool put_unnamed(struct api_request *request, const struct selector *selector,
			const struct query_result *result, struct err *err)
{
	struct arena *arena = request->req->arena;
	struct json_response body;
	struct json *json = &body.json;
	struct unnamed unnamed;

	if (!unnamed_find(result->merge, arena, &unnamed, err))
		return false;
	json_response_begin(&body, arena);
	json_object(json);
	put_text(json, STR("unit"), profile_type_unit(selector->type));
	put_number(json, STR("total"), unnamed.total);
	put_number(json, STR("unnamed"), unnamed.value);
	json_key(json, STR("rows"));
	json_array(json);
	for (size_t i = 0; i < unnamed.rows.len; i++) {
		put_row(json, &unnamed.rows.items[i]);
		if (!merge_within_memory(result->merge, arena, err))
			return false;
	}
	json_end_array(json);
	json_end_object(json);
	json_response_warnings(json, result->warnings, result->warning_count);
	request->res->content_type = "application/json";
	request->res->body = json_response_end(&body, &request->stats);
	return true;
}

bool respond_unnamed(struct api_request *request, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	const struct group_by group_by = { .names = { UNNAMED_GROUP_BY }, .len = 1 };
	struct query_result_options options = { .selector = &selector,
						.group_by = &group_by,
						.memory_max = request->api->memory_max };
	struct query_result result = { 0 };

	if (!api_request_selector(request, "query", &selector, err))
		return false;

	bool good = query_result_read(&result, request, &options, err) &&
		    put_unnamed(request, &selector, &result, err);

	request->memory_used = result.memory.used;
	query_result_done(&result);
	return good;
}
