// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"
#include "server/http/url.h"
#include "server/limits.h"
#include "support/test.h"

static void decodes_pairs_in_order(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct http_param *params;
	size_t count;
	struct err err;

	(void)state;
	assert_true(url_query_parse(STR("q=%7Bcomm%3D%22a+b%22%7D&&match[]=x&match[]=y=z&flag&=v"),
				    &arena, &params, &count, &err));
	assert_int_equal(count, 5);
	assert_true(str_eq(params[0].name, STR("q")));
	assert_true(str_eq(params[0].value, STR("{comm=\"a b\"}")));
	assert_true(str_eq(params[1].name, STR("match[]")));
	assert_true(str_eq(params[2].value, STR("y=z")));
	assert_true(str_eq(params[3].name, STR("flag")) && params[3].value.len == 0);
	assert_true(params[4].name.len == 0 && str_eq(params[4].value, STR("v")));
}

static void keeps_a_plus_in_paths(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct err err;
	str out;

	(void)state;
	assert_true(url_decode(STR("/a+b%2fc"), false, &arena, &out, &err));
	assert_true(str_eq(out, STR("/a+b/c")));
	assert_true(url_decode(STR("%00"), false, &arena, &out, &err));
	assert_true(out.len == 1 && out.ptr[0] == 0);
}

static void rejects_an_incomplete_escape(void **state)
{
	static const char *const rows[] = { "%", "%4", "a%4", "%g0", "%0g", "%%41" };
	AUTO_ARENA arena = { 0 };
	struct http_param *params;
	size_t count;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_false(url_query_parse(str_from(rows[i]), &arena, &params, &count, &err));
}

static void rejects_too_many_parameters(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf query = { .arena = &arena };
	struct http_param *params;
	size_t count;
	struct err err;

	(void)state;
	for (int i = 0; i < HTTP_PARAMS_MAX; i++)
		buf_str(&query, STR("a=1&"));
	assert_true(url_query_parse(buf_bytes(&query), &arena, &params, &count, &err));
	assert_int_equal(count, HTTP_PARAMS_MAX);
	buf_str(&query, STR("a=1"));
	assert_false(url_query_parse(buf_bytes(&query), &arena, &params, &count, &err));
}

RUN_TESTS(TEST(decodes_pairs_in_order), TEST(keeps_a_plus_in_paths),
	  TEST(rejects_an_incomplete_escape), TEST(rejects_too_many_parameters))
