// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"
#include "profile/profile_type.h"
#include "profile/selector.h"
#include "support/test.h"

#include <stdio.h>

static void parses_valid_selectors(void **state)
{
	static const struct {
		const char *text, *type;
		size_t matchers;
		enum matcher_op op; /* of the first matcher */
		const char *name, *value;
	} rows[] = {
		{ "{}", PROFILE_TYPE_CPU, 0 },
		{ " { } ", PROFILE_TYPE_CPU, 0 },
		{ PROFILE_TYPE_CPU, PROFILE_TYPE_CPU, 0 },
		{ PROFILE_TYPE_CPU "{}", PROFILE_TYPE_CPU, 0 },
		{ "a:b:c:d:e{}", "a:b:c:d:e", 0 },
		{ "x-y.z:b:c:d:e{}", "x-y.z:b:c:d:e", 0 },
		{ "{__name__=\"a:b:c:d:e\"}", "a:b:c:d:e", 0 },
		{ "{comm=\"nginx\"}", PROFILE_TYPE_CPU, 1, MATCH_EQ, "comm", "nginx" },
		{ "{comm!=\"nginx\",}", PROFILE_TYPE_CPU, 1, MATCH_NE, "comm", "nginx" },
		{ "{comm=~'web-.*', a=\"b\"}", PROFILE_TYPE_CPU, 2, MATCH_RE, "comm", "web-.*" },
		{ "{comm!~`a\\d`}", PROFILE_TYPE_CPU, 1, MATCH_NOT_RE, "comm", "a\\d" },
		{ "{\n\tcomm\t=\r\n \"x\" , }", PROFILE_TYPE_CPU, 1, MATCH_EQ, "comm", "x" },
		{ "{a=\"\"}", PROFILE_TYPE_CPU, 1, MATCH_EQ, "a", "" },
		{ "{a=~\"\"}", PROFILE_TYPE_CPU, 1, MATCH_RE, "a", "" },
		{ "{a=\"q\\\"\\\\\\n\\x41\\101\\u00e4\\U0001f525\"}", PROFILE_TYPE_CPU, 1, MATCH_EQ,
		  "a", "q\"\\\nAA\xc3\xa4\xf0\x9f\x94\xa5" },
		{ "{a='it\\'s'}", PROFILE_TYPE_CPU, 1, MATCH_EQ, "a", "it's" },
		{ "{\"a.b/c\"=\"x\"}", PROFILE_TYPE_CPU, 1, MATCH_EQ, "a.b/c", "x" },
		{ "{_a1=\"x\"}", PROFILE_TYPE_CPU, 1, MATCH_EQ, "_a1", "x" },
		{ "{a=\"}\"}", PROFILE_TYPE_CPU, 1, MATCH_EQ, "a", "}" },
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct selector selector;
		struct err err;

		if (!selector_parse(str_from(rows[i].text), &arena, &selector, &err))
			fail_msg("%s: %s", rows[i].text, err.msg);
		assert_true(str_eq(selector.type, str_from(rows[i].type)));
		assert_int_equal(selector.matcher_count, rows[i].matchers);
		if (rows[i].matchers) {
			assert_int_equal(selector.matchers[0].op, rows[i].op);
			assert_true(str_eq(selector.matchers[0].name, str_from(rows[i].name)));
			assert_true(str_eq(selector.matchers[0].value, str_from(rows[i].value)));
		}
		selector_done(&selector);
	}
}

static void reports_the_position_of_an_error(void **state)
{
	static const struct {
		const char *text, *error; /* after "selector, position " */
	} rows[] = {
		{ "", "1: expected a profile type or {, found the end" },
		{ "  ", "3: expected a profile type or {, found the end" },
		{ "\"x\"", "1: expected a profile type or {, found '\"'" },
		{ "{", "2: expected a label name or }, found the end" },
		{ "{comm", "6: expected =, !=, =~ or !~, found the end" },
		{ "{comm}", "6: expected =, !=, =~ or !~, found '}'" },
		{ "{comm=", "7: expected a value in quotes, found the end" },
		{ "{comm=nginx}", "7: expected a value in quotes, found 'n'" },
		{ "{comm==\"x\"}", "7: expected a value in quotes, found '='" },
		{ "{comm=\"x}", "7: the text that begins here has no closing \"" },
		{ "{comm='x\"}", "7: the text that begins here has no closing '" },
		{ "{comm=\"x\n\"}", "9: expected \" before the end of the line" },
		{ "{comm=\"x\"", "10: expected , or }, found the end" },
		{ "{comm=\"x\" b=\"y\"}", "11: expected , or }, found 'b'" },
		{ "{,}", "2: expected a label name or }, found ','" },
		{ "{a=\"b\",,}", "8: expected a label name or }, found ','" },
		{ "{1a=\"b\"}", "2: expected a label name or }, found '1'" },
		{ "{\"\"=\"b\"}", "2: expected a label name that is not empty, found '\"'" },
		{ "{a=\"b\"}}", "8: expected nothing after }, found '}'" },
		{ "a:b:c:d:e x", "11: expected { or nothing more, found 'x'" },
		{ "a:b:c:d:e{__name__=\"a:b:c:d:e\"}", "20: the profile type is given twice" },
		{ "{__name__=~\"a:b:c:d:e\"}", "2: the profile type can only be compared with =" },
		{ "{a=\"\\q\"}", "7: unknown escape \\q" },
		{ "{a=\"\\x4\"}", "7: expected 2 hex digits after \\x" },
		{ "{a=\"\\40\"}", "6: expected three octal digits after \\" },
		{ "{a=\"\\777\"}", "6: octal escape beyond \\377" },
		{ "{a=\"\\U00110000\"}", "7: \\U is not a valid character" },
		{ "{a=\"\\ud800\"}", "4: the text that begins here is not UTF-8 or has a NUL in "
				     "it" },
		{ "{a=\"\\x00\"}", "4: the text that begins here is not UTF-8 or has a NUL in it" },
		{ "{a=\"\\", "6: expected an escape after \\" },
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct selector selector;
		struct err err;
		char error[256];

		if (selector_parse(str_from(rows[i].text), &arena, &selector, &err))
			fail_msg("%s is accepted", rows[i].text);
		snprintf(error, sizeof(error), "selector, position %s", rows[i].error);
		assert_string_equal(err.msg, error);
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static void rejects_invalid_types_and_expressions(void **state)
{
	static const char *const rows[] = {
		"cpu",
		"a:b:c:d{}",
		"::::{}",
		"{__name__=\"x\"}",
		"{a=~\"(\"}",
		"{a=~\"a)|(?:b\"}",
		"{a!~\"*\"}",
		"{a=~\"[\"}",
		"{a=~\"\\\\Qx\\\\C\\\\E\\\\C\"}",
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct selector selector;
		struct err err;

		if (selector_parse(str_from(rows[i]), &arena, &selector, &err))
			fail_msg("%s is accepted", rows[i]);
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static void rejects_more_matchers_and_bytes_than_its_limits(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf text = { .arena = &arena };
	struct selector selector;
	struct err err;

	(void)state;
	buf_str(&text, STR("{"));
	for (int i = 0; i < MATCHERS_MAX; i++)
		buf_str(&text, STR("a=~\"b\","));

	struct buf more = { .arena = &arena };

	buf_str(&more, buf_bytes(&text));
	buf_str(&text, STR("}"));
	buf_str(&more, STR("a=\"b\"}"));
	assert_true(selector_parse(buf_bytes(&text), &arena, &selector, &err));
	assert_int_equal(selector.matcher_count, MATCHERS_MAX);
	selector_done(&selector);
	assert_false(selector_parse(buf_bytes(&more), &arena, &selector, &err));
	assert_true(str_find(str_from(err.msg), STR("more than 32 matchers")) != SIZE_MAX);

	char *spaces = arena_array(&arena, char, SELECTOR_MAX + 1);

	memset(spaces, ' ', SELECTOR_MAX + 1);
	assert_false(selector_parse((str){ spaces, SELECTOR_MAX + 1 }, &arena, &selector, &err));
	assert_string_equal(err.msg, "selector of 16385 bytes, limit 16384");
}

RUN_TESTS(TEST(parses_valid_selectors), TEST(reports_the_position_of_an_error),
	  TEST(rejects_invalid_types_and_expressions),
	  TEST(rejects_more_matchers_and_bytes_than_its_limits))
