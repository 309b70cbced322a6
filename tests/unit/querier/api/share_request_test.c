// SPDX-License-Identifier: Apache-2.0
#include "querier/api/share_request_internal.h"
#include "support/test.h"

static const uint64_t now_ms = 1787479200000;
static struct err err;

static struct share_request read_request(const char *body, struct arena *arena)
{
	struct share_request request;

	if (!share_request_read(str_from(body), now_ms, arena, &request, &err))
		fail_msg("%s: %s", body, err.msg);
	return request;
}

static void defaults_are_the_last_hour_frozen_for_ever(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct share_request request =
		read_request("{\"query\": \"{}\", \"expires\": null}", &arena);

	(void)state;
	assert_true(str_eq(request.sides[0].query, STR("{}")));
	assert_int_equal(request.sides[0].window.end_ms, now_ms);
	assert_int_equal(request.sides[0].window.start_ms, now_ms - 3600000);
	assert_int_equal(request.expires_ms, 0);
	assert_int_equal(request.side_count, 1);
	assert_true(request.freeze);
	assert_int_equal(request.group_by.len, 0);
}

static void times_are_numbers_or_texts(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct share_request request =
		read_request("{\"query\":\"{}\",\"start\":1787470000.5,"
			     "\"end\":\"2026-08-23T08:00:00Z\",\"freeze\":false,"
			     "\"group_by\":\"comm,pid\",\"expires\":60.25}",
			     &arena);

	(void)state;
	assert_int_equal(request.sides[0].window.start_ms, 1787470000500);
	assert_int_equal(request.sides[0].window.end_ms, 1787472000000);
	assert_int_equal(request.expires_ms, now_ms + 60250);
	assert_false(request.freeze);
	assert_true(str_eq(request.group_by, STR("comm,pid")));
	request = read_request("{\"query\":\"{}\",\"expires\":\"2026-08-23T10:00:01Z\"}", &arena);
	assert_int_equal(request.expires_ms, now_ms + 1000);
}

static void a_comparison_has_two_sides_and_one_of_all_else(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct share_request request = read_request(
		"{\"a\":{\"query\":\"{comm=\\\"é\\\"}\",\"start\":1787470000.25,\"end\":"
		"1787470001},"
		"\"b\":{\"query\":\"{}\"},\"group_by\":\"comm\",\"expires\":60}",
		&arena);

	(void)state;
	assert_int_equal(request.side_count, 2);
	assert_true(str_eq(request.sides[0].query, STR("{comm=\"é\"}")));
	assert_int_equal(request.sides[0].window.start_ms, 1787470000250);
	assert_true(str_eq(request.sides[1].query, STR("{}")));
	assert_int_equal(request.sides[1].window.end_ms, now_ms);
	assert_true(str_eq(request.group_by, STR("comm")));
	assert_int_equal(request.expires_ms, now_ms + 60000);
}

static void malformed_requests_are_rejected_with_a_reason(void **state)
{
	static const struct {
		const char *body, *words;
	} cases[] = {
		{ "", "not JSON" },
		{ "[]", "an object is needed" },
		{ "{}", "member query is missing" },
		{ "{\"query\":1}", "query must be a text" },
		{ "{\"query\":\"{}\",\"freeze\":1}", "freeze must be true or false" },
		{ "{\"query\":\"{}\",\"start\":[]}", "start must be a time" },
		{ "{\"query\":\"{}\",\"start\":\"soon\"}", "start: \"soon\" is not a time" },
		{ "{\"query\":\"{}\",\"start\":9,\"end\":8}", "start must be before end" },
		{ "{\"query\":\"{}\",\"expires\":-5}", "is not a time" },
		{ "{\"query\":\"{}\",\"expires\":0}", "later than now" },
		{ "{\"query\":\"{}\",\"expires\":\"2026-08-23T10:00:00Z\"}", "later than now" },
		{ "{\"query\":\"{}\",\"expires\":253402300800}", "after the year 9999" },
		{ "{\"query\":\"{}\",\"owner\":1}", "there is no member \"owner\"" },
		{ "{\"a\":{},\"b\":{}}", "a: member query is missing" },
		{ "{\"a\":{\"query\":\"{}\"},\"b\":{\"query\":7}}", "b: query must be a text" },
		{ "{\"a\":{\"query\":\"{}\"}}", "both a and b: b is missing" },
		{ "{\"a\":\"{}\",\"b\":\"{}\"}", "a must be an object" },
		{ "{\"a\":{\"query\":\"{}\"},\"b\":{\"query\":\"{}\"},\"start\":1}",
		  "start and end in a and b" },
		{ "{\"a\":{\"query\":\"{}\",\"freeze\":true},\"b\":{}}",
		  "a: there is no member \"freeze\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { 0 };
		struct share_request request;

		assert_false(share_request_read(str_from(cases[i].body), now_ms, &arena, &request,
						&err));
		assert_int_equal(err.code, ERR_INVALID);
		if (!strstr(err.msg, cases[i].words))
			fail_msg("%s: %s", cases[i].body, err.msg);
	}
}

RUN_TESTS(TEST(defaults_are_the_last_hour_frozen_for_ever), TEST(times_are_numbers_or_texts),
	  TEST(a_comparison_has_two_sides_and_one_of_all_else),
	  TEST(malformed_requests_are_rejected_with_a_reason))
