// SPDX-License-Identifier: Apache-2.0
#include "server/json/json_error.h"
#include "support/test.h"

static void each_error_code_has_a_type_and_a_status(void **state)
{
	static const struct {
		enum err_code code;
		const char *word;
		int status;
	} rows[] = {
		{ ERR_NONE, "unavailable", 503 }, { ERR_INVALID, "bad_data", 400 },
		{ ERR_CORRUPT, "internal", 500 }, { ERR_NOT_FOUND, "not_found", 404 },
		{ ERR_EXPIRED, "gone", 410 },     { ERR_IO, "unavailable", 503 },
		{ ERR_LIMIT, "execution", 422 },  { ERR_BUSY, "unavailable", 503 },
		{ ERR_TIMEOUT, "timeout", 503 },  { ERR_CANCELLED, "canceled", 499 },
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum error_type type = error_type_of(rows[i].code);
		struct http_response res = { 0 };

		assert_string_equal(error_type_names[type], rows[i].word);
		json_error_respond(type, "why", 7, &arena, &res);
		assert_int_equal(res.status, rows[i].status);
		assert_true(str_find(res.body, str_from(rows[i].word)) != SIZE_MAX);
		assert_int_equal(res.header_count, type == ERROR_UNAVAILABLE);
	}
}

static void an_unavailable_service_says_when_to_try_again(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct http_response res = { 0 };

	(void)state;
	json_error_respond(ERROR_UNAVAILABLE, "later", 7, &arena, &res);
	assert_true(str_eq(res.headers[0].name, STR("Retry-After")));
	assert_true(str_eq(res.headers[0].value, STR("7")));
}

static void a_rejection_of_the_server_has_the_type_of_its_status(void **state)
{
	static const struct {
		int status;
		enum error_type type;
	} rows[] = {
		{ 400, ERROR_BAD_DATA },    { 404, ERROR_NOT_FOUND }, { 405, ERROR_BAD_DATA },
		{ 413, ERROR_BAD_DATA },    { 414, ERROR_BAD_DATA },  { 500, ERROR_INTERNAL },
		{ 503, ERROR_UNAVAILABLE },
	};
	AUTO_ARENA arena = { 0 };
	const struct http_request req = { .arena = &arena };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_response res = { .status = rows[i].status };

		json_error_unhandled(NULL, &req, "why", &res);
		assert_int_equal(res.status, rows[i].status);
		assert_true(str_find(res.body, str_from(error_type_names[rows[i].type])) !=
			    SIZE_MAX);
	}
}

static void an_error_has_the_format_of_prometheus(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct http_response res = { 0 };

	(void)state;
	json_error(&arena, "bad_data", "step: \"x\" is no duration", &res);
	assert_string_equal(res.content_type, "application/json");
	assert_true(str_eq(res.body, STR("{\"status\":\"error\",\"errorType\":\"bad_data\","
					 "\"error\":\"step: \\\"x\\\" is no duration\"}\n")));
}

RUN_TESTS(TEST(each_error_code_has_a_type_and_a_status),
	  TEST(an_unavailable_service_says_when_to_try_again),
	  TEST(a_rejection_of_the_server_has_the_type_of_its_status),
	  TEST(an_error_has_the_format_of_prometheus))
