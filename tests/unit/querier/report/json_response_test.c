// SPDX-License-Identifier: Apache-2.0
/*
 * Responses have the format of Prometheus' HTTP API.
 */
#include "querier/report/json_response.h"
#include "support/test.h"

static void a_list_stands_between_its_status_and_its_stats(void **state)
{
	static const str items[] = { { "cpu", 3 }, { "a\"b", 3 } };
	AUTO_ARENA arena = { 0 };
	struct query_stats stats = { 0 };
	struct http_response res = { 0 };

	(void)state;
	json_response_list(&arena, items, ARRAY_LEN(items), &stats, &res);
	assert_string_equal(res.content_type, "application/json");
	assert_true(str_starts_with(
		res.body,
		STR("{\"status\":\"success\",\"data\":[\"cpu\",\"a\\\"b\"],\"stats\":{")));
	assert_true(str_ends_with(res.body, STR("}}}\n")));
}

static void warnings_are_written_only_if_there_are_any(void **state)
{
	static const str warnings[] = { { "no symbolizer", 13 } };
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };
	struct json json = { .out = &out };

	(void)state;
	json_object(&json);
	json_response_warnings(&json, warnings, 0);
	json_response_warnings(&json, warnings, 1);
	json_end_object(&json);
	assert_true(str_eq(buf_bytes(&out), STR("{\"warnings\":[\"no symbolizer\"]}")));
	assert_true(str_eq(json_response_warnings_text(&arena, warnings, 1),
			   STR("[\"no symbolizer\"]")));
	assert_true(str_eq(json_response_warnings_text(&arena, warnings, 0), STR("[]")));
}

static void a_metric_is_its_type_and_its_labels(void **state)
{
	static struct label items[] = { { { "node", 4 }, { "web-1", 5 } } };
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };
	struct json json = { .out = &out };

	(void)state;
	json_array(&json);
	json_response_metric(&json, STR("cpu"), (struct labels){ items, 1 });
	json_response_labels(&json, (struct labels){ items, 1 });
	json_end_array(&json);
	assert_true(str_eq(buf_bytes(&out), STR("[{\"__name__\":\"cpu\",\"node\":\"web-1\"},"
						"{\"node\":\"web-1\"}]")));
}

RUN_TESTS(TEST(a_list_stands_between_its_status_and_its_stats),
	  TEST(warnings_are_written_only_if_there_are_any),
	  TEST(a_metric_is_its_type_and_its_labels))
