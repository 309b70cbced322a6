// SPDX-License-Identifier: Apache-2.0
#include "querier/report/range_report.h"

#include "querier/report/json_response.h"

#include <inttypes.h>
#include <stdio.h>

static bool put_line(struct json *json, const struct range_report_input *input,
		     const struct range_line *line, struct err *err)
{
	const struct range_options *options = &input->range->options;

	json_object(json);
	json_key(json, STR("metric"));
	json_response_metric(json, input->type, line->labels);
	json_key(json, STR("values"));
	json_array(json);
	for (size_t i = 0; i < line->count; i++) {
		uint64_t at_ms = options->start_ms + line->points[i].step * options->step_ms;
		char value[32];
		int len = snprintf(value, sizeof(value), "%" PRId64, line->points[i].sum);

		json_array(json);
		json_double(json, (double)at_ms / 1000);
		json_str(json, (str){ value, (size_t)len });
		json_end_array(json);
		if (!range_sums_within_memory(input->range, err))
			return false;
	}
	json_end_array(json);
	json_end_object(json);
	return true;
}

static void put_warnings(struct json *json, const struct range_report_input *input,
			 struct arena *arena)
{
	const struct range_result *result = input->result;
	str *warnings = arena_array(arena, str, input->warning_count + 1);
	size_t count = input->warning_count;

	if (count)
		memcpy(warnings, input->warnings, count * sizeof(*warnings));
	if (result->left_out)
		warnings[count++] =
			str_format(arena,
				   "limit=%zu: %zu more series, whose sum is %" PRId64
				   ", are left out; the biggest are here",
				   result->count, result->left_out, result->left_out_sum);
	if (count)
		json_response_warnings(json, warnings, count);
}

bool range_report_write(const struct range_report_input *input, struct arena *arena, str *ret_body,
			struct err *err)
{
	const struct range_result *result = input->result;
	struct json_response body;
	struct json *json = &body.json;

	json_response_begin(&body, arena);
	json_object(json);
	json_key(json, STR("resultType"));
	json_str(json, STR("matrix"));
	json_key(json, STR("result"));
	json_array(json);
	for (size_t i = 0; i < result->count; i++)
		if (!put_line(json, input, &result->lines[i], err))
			return false;
	json_end_array(json);
	json_end_object(json);
	put_warnings(json, input, arena);
	*ret_body = json_response_end(&body, input->stats);
	return true;
}
