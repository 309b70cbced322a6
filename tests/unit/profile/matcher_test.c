// SPDX-License-Identifier: Apache-2.0
#include "profile/selector.h"
#include "support/test.h"

static void matches_as_prometheus_does(void **state)
{
	static const struct {
		enum matcher_op op;
		const char *pattern, *value;
		bool matches;
	} rows[] = {
		{ MATCH_EQ, "a", "a", true },
		{ MATCH_EQ, "a", "b", false },
		{ MATCH_EQ, "", "", true },
		{ MATCH_NE, "a", "b", true },
		{ MATCH_NE, "", "", false },
		{ MATCH_RE, "web-.*", "web-1", true },
		{ MATCH_RE, "web-.*", "my-web-1", false },
		{ MATCH_RE, "web", "web-1", false },
		{ MATCH_RE, "a|bc", "ab", false },
		{ MATCH_RE, "a|bc", "bc", true },
		{ MATCH_RE, "a|ab", "ab", true },
		{ MATCH_RE, ".*", "", true },
		{ MATCH_RE, ".+", "", false },
		{ MATCH_RE, ".*", "a\nb", true },
		{ MATCH_RE, "a$", "a\n", false },
		{ MATCH_RE, "", "", true },
		{ MATCH_RE, "", "x", false },
		{ MATCH_RE, "(?i)NGINX", "nginx", true },
		{ MATCH_RE, "h.llo", "h\xc3\xa4llo", true },
		{ MATCH_RE, "\\d+", "123", true },
		{ MATCH_NOT_RE, "a.*", "ab", false },
		{ MATCH_NOT_RE, "a.*", "b", true },
		{ MATCH_NOT_RE, "a", "", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct matcher matcher;
		struct err err;
		bool matches, empty;

		assert_true(matcher_init(&matcher, rows[i].op, STR("a"), str_from(rows[i].pattern),
					 &err));
		assert_true(matcher_matches(&matcher, str_from(rows[i].value), &matches, &err));
		if (matches != rows[i].matches)
			fail_msg("%s and \"%s\"", rows[i].pattern, rows[i].value);
		assert_true(matcher_matches(&matcher, (str){ 0 }, &empty, &err));
		assert_int_equal(matcher_matches_empty(&matcher), empty);
		matcher_done(&matcher);
	}
}

static void an_expression_with_exponential_cost_is_stopped(void **state)
{
	static char value[2048];
	struct matcher matcher;
	bool matches;
	struct err err;

	(void)state;
	memset(value, 'a', sizeof(value));
	assert_true(matcher_init(&matcher, MATCH_RE, STR("comm"), STR("(a+)+[bc]"), &err));
	assert_false(matcher_matches(&matcher, (str){ value, sizeof(value) }, &matches, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_true(str_starts_with(str_from(err.msg), STR("label comm: regular expression: ")));
	matcher_done(&matcher);
}

static void a_value_that_is_not_utf8_does_not_match(void **state)
{
	struct matcher matcher;
	bool matches;
	struct err err;

	(void)state;
	assert_true(matcher_init(&matcher, MATCH_RE, STR("a"), STR("x."), &err));
	assert_true(matcher_matches(&matcher, STR("x\xff"), &matches, &err));
	assert_false(matches);
	matcher_done(&matcher);
}

RUN_TESTS(TEST(matches_as_prometheus_does), TEST(an_expression_with_exponential_cost_is_stopped),
	  TEST(a_value_that_is_not_utf8_does_not_match))
