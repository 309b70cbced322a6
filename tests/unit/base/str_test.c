// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"
#include "support/test.h"

static void cut_returns_the_head_and_leaves_the_tail(void **state)
{
	str rest = STR("a:b");
	str head = str_cut(&rest, ':');

	(void)state;
	assert_true(str_eq(head, STR("a")));
	assert_true(str_eq(rest, STR("b")));
	assert_true(str_eq(str_cut(&rest, ':'), STR("b")));
	assert_int_equal(rest.len, 0);
}

static void to_u64_rejects_overflow(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(str_to_u64(STR("18446744073709551615"), &n));
	assert_true(n == UINT64_MAX);
	assert_false(str_to_u64(STR("18446744073709551616"), &n));
	assert_false(str_to_u64(STR(""), &n));
	assert_false(str_to_u64(STR("12x"), &n));
}

static void hex_accepts_both_cases_and_rejects_other_text(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(str_hex_to_u64(STR("fFfFffffFFFFffff"), &n));
	assert_true(n == UINT64_MAX);
	assert_false(str_hex_to_u64(STR("10000000000000000"), &n));
	assert_false(str_hex_to_u64(STR("0x1"), &n));
}

static void to_i64_reaches_both_ends_and_no_further(void **state)
{
	int64_t n;

	(void)state;
	assert_true(str_to_i64(STR("-9223372036854775808"), &n));
	assert_true(n == INT64_MIN);
	assert_true(str_to_i64(STR("9223372036854775807"), &n));
	assert_true(n == INT64_MAX);
	assert_false(str_to_i64(STR("9223372036854775808"), &n));
	assert_false(str_to_i64(STR("-9223372036854775809"), &n));
	assert_false(str_to_i64(STR("-"), &n));
}

static void distinguishes_utf8_from_malformed_bytes(void **state)
{
	static const struct {
		str text;
		bool good;
	} rows[] = {
		{ STR(""), true },
		{ STR("plain"), true },
		{ STR("gr\xc3\xbc\xc3\x9f"), true },
		{ STR("\xe2\x82\xac\xf0\x9f\x94\xa5"), true },
		{ STR("\xc3"), false },             /* truncated */
		{ STR("\x80"), false },             /* a continuation byte first */
		{ STR("\xc0\x80"), false },         /* overlong */
		{ STR("\xe0\x80\x80"), false },     /* overlong */
		{ STR("\xed\xa0\x80"), false },     /* a surrogate */
		{ STR("\xf4\x90\x80\x80"), false }, /* beyond Unicode */
		{ STR("\xff"), false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(str_is_utf8(rows[i].text), rows[i].good);
}

static void orders_by_bytes_and_puts_a_prefix_first(void **state)
{
	(void)state;
	assert_true(str_compare(STR("a"), STR("ab")) < 0);
	assert_true(str_compare(STR("b"), STR("ab")) > 0);
	assert_true(str_compare(STR("\xff"), STR("a")) > 0);
	assert_int_equal(str_compare(STR("x"), STR("x")), 0);
}

static void finds_trims_and_formats(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_int_equal(str_find(STR("a=b"), STR("=")), 1);
	assert_true(str_find(STR("ab"), STR("abc")) == SIZE_MAX);
	assert_true(str_eq(str_trim(STR(" \tx y\n")), STR("x y")));
	assert_true(str_starts_with(STR("abc"), STR("ab")));
	assert_true(str_ends_with(STR("abc"), STR("bc")));
	assert_false(str_ends_with(STR("c"), STR("bc")));
	assert_true(str_eq(str_format(&arena, "%s-%d", "x", 7), STR("x-7")));
	assert_true(str_eq(str_hex(&arena, STR("\x01\xab")), STR("01ab")));
}

RUN_TESTS(TEST(cut_returns_the_head_and_leaves_the_tail), TEST(to_u64_rejects_overflow),
	  TEST(hex_accepts_both_cases_and_rejects_other_text),
	  TEST(to_i64_reaches_both_ends_and_no_further),
	  TEST(distinguishes_utf8_from_malformed_bytes),
	  TEST(orders_by_bytes_and_puts_a_prefix_first), TEST(finds_trims_and_formats))
