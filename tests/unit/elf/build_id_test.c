// SPDX-License-Identifier: Apache-2.0
#include "elf/build_id.h"
#include "support/test.h"

#include <stdio.h>

static void takes_digits_and_hashes(void **state)
{
	static const char *const rows[][2] = {
		{ "01234567", "01234567" },
		{ "ABCDEFab", "abcdefab" },
		{ "6f3c1e8a5d2b4f7091827364554637281900aabb",
		  "6f3c1e8a5d2b4f7091827364554637281900aabb" },
		{ "htlhash:0123456789abcdef0123456789ABCDEF",
		  "htlhash:0123456789abcdef0123456789abcdef" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct build_id id;
		struct err err = { 0 };

		assert_true(build_id_parse(str_from(rows[i][0]), &id, &err));
		assert_string_equal(id.text, rows[i][1]);
		assert_int_equal(id.is_hash, i == 3);
	}
}

static void rejects_any_other_text(void **state)
{
	static const char *const rows[] = {
		"",
		"ab",
		"0123456",   /* seven digits */
		"012345678", /* an odd number */
		"0123456g",
		"../../etc/passwd",
		"..%2f..%2fetc",
		"01234567/01",
		"0x01234567",
		"htlhash:",
		"htlhash:01234567", /* too short for one */
		"HTLHASH:0123456789abcdef0123456789abcdef",
		"htlhash:0123456789abcdef0123456789abcd/.",
	};
	char long_one[131];
	struct build_id id = { .text = "untouched" };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_false(build_id_parse(str_from(rows[i]), &id, &err));
		assert_int_equal(err.code, ERR_INVALID);
	}
	assert_false(build_id_parse((str){ "0123\0"
					   "567",
					   8 },
				    &id, &err));
	memset(long_one, 'a', sizeof(long_one));
	assert_false(build_id_parse((str){ long_one, 130 }, &id, &err));
	assert_string_equal(id.text, "untouched");
	assert_true(build_id_parse((str){ long_one, 128 }, &id, &err));
}

static void compares_with_the_bytes_of_a_note(void **state)
{
	static const uint8_t bytes[] = { 0x01, 0x23, 0xab, 0xff };
	struct build_id id;
	struct err err;

	(void)state;
	assert_true(build_id_parse(STR("0123ABFF"), &id, &err));
	assert_true(build_id_is(&id, bytes, 4));
	assert_false(build_id_is(&id, bytes, 3));
	assert_true(build_id_parse(STR("0123abfe"), &id, &err));
	assert_false(build_id_is(&id, bytes, 4));
	assert_true(build_id_parse(STR("htlhash:0123456789abcdef0123456789abcdef"), &id, &err));
	assert_false(build_id_is(&id, bytes, 4));
}

RUN_TESTS(TEST(takes_digits_and_hashes), TEST(rejects_any_other_text),
	  TEST(compares_with_the_bytes_of_a_note))
