// SPDX-License-Identifier: Apache-2.0
#include "profile/regex_hint.h"
#include "support/test.h"

static void lists_the_values_of_an_alternation(void **state)
{
	static const struct {
		const char *expression;
		size_t count;
		const char *values[3];
	} rows[] = {
		{ "web", 1, { "web" } },
		{ "web|api|db", 3, { "web", "api", "db" } },
		{ "web\\.a|10\\.0\\.0\\.1", 2, { "web.a", "10.0.0.1" } },
		{ "a\\|b", 1, { "a|b" } },
		{ "|a", 2, { "", "a" } },
		{ "", 1, { "" } },
		{ "h\xc3\xa4llo#x y", 1, { "h\xc3\xa4llo#x y" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct regex_hint hint = regex_hint_of(str_from(rows[i].expression), &arena);

		assert_non_null(hint.literals);
		assert_int_equal(hint.literal_count, rows[i].count);
		for (size_t j = 0; j < hint.literal_count; j++)
			assert_true(str_eq(hint.literals[j], str_from(rows[i].values[j])));
	}
}

static void finds_the_common_prefix_and_no_more(void **state)
{
	static const struct {
		const char *expression, *prefix;
	} rows[] = {
		{ "web-.*", "web-" },
		{ "web\\.example\\.[a-z]+", "web.example." },
		{ "webs?", "web" },
		{ "webs*-x", "web" },
		{ "webs{0}", "web" },
		{ "webs+", "webs" },
		{ "web$", "web" },
		{ "h\xc3\xa4*", "h" },
		{ "h\xc3\xa4+", "h\xc3\xa4" },
		{ "a\\d+", "a" },
		{ "ab\\E*", "a" },
		{ "a\\.?", "a" },
		{ "\\w+", "" },
		{ ".*-7", "" },
		{ "(?i)web-.*", "" },
		{ "web-(1|2)", "" },
		{ "web.*|api", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct regex_hint hint = regex_hint_of(str_from(rows[i].expression), &arena);

		assert_null(hint.literals);
		if (!str_eq(hint.prefix, str_from(rows[i].prefix)))
			fail_msg("%s: " STR_FMT, rows[i].expression, STR_ARG(hint.prefix));
	}
}

static void finds_the_longest_contained_text_and_no_more(void **state)
{
	static const struct {
		const char *expression, *inside;
	} rows[] = {
		{ ".*-7", "-7" },
		{ ".*-canary-.*", "-canary-" },
		{ "web-.*-canary-[a-f0-9]+-x", "-canary-" },
		{ ".+\\.example\\.com$", ".example.com" },
		{ "\\d+-web\\w*", "-web" },
		{ "^.*webs?.*", "web" },
		{ ".*webs+?x.*", "webs" },
		{ "a{2}bcd{1,3}?ef", "bc" },
		{ "a{,2}bcd", "" },
		{ ".*h\xc3\xa4*", "h" },
		{ ".*+abc", "abc" },
		{ "ab(cdef)gh", "ab" },
		{ "ab(?i)cdef", "a" },
		{ "ab(?#c)*def", "a" },
		{ "(?i)abc", "" },
		{ "ab\\Qc.def\\E", "a" },
		{ "ab\\E*cd", "a" },
		{ "a[]b]cdef", "a" },
		{ "a[^]b]cdef", "a" },
		{ "a[[:alpha:]]cdef", "a" },
		{ "a[\\]]cdef", "a" },
		{ "a[bcdef", "a" },
		{ "abc.*|def", "" },
		{ "ab\\", "a" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct regex_hint hint = regex_hint_of(str_from(rows[i].expression), &arena);

		if (!str_eq(hint.inside, str_from(rows[i].inside)))
			fail_msg("%s: " STR_FMT, rows[i].expression, STR_ARG(hint.inside));
	}
}

static void a_range_holds_all_values_with_the_prefix(void **state)
{
	static const struct {
		const char *prefix, *first, *end;
	} rows[] = {
		{ "web-", "web-", "web." },
		{ "h\xc3\xa4", "h", "i" },
		{ "a~", "a~", "a\x7f" },
		{ "a\x7f", "a", "b" },
	};
	AUTO_ARENA arena = { 0 };
	str first, end;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(regex_hint_range(str_from(rows[i].prefix), &arena, &first, &end));
		assert_true(str_eq(first, str_from(rows[i].first)));
		assert_true(str_eq(end, str_from(rows[i].end)));
	}
	assert_false(regex_hint_range(STR(""), &arena, &first, &end));
	assert_false(regex_hint_range(STR("\xc3\xa4"), &arena, &first, &end));
}

RUN_TESTS(TEST(lists_the_values_of_an_alternation), TEST(finds_the_common_prefix_and_no_more),
	  TEST(finds_the_longest_contained_text_and_no_more),
	  TEST(a_range_holds_all_values_with_the_prefix))
