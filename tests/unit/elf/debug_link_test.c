// SPDX-License-Identifier: Apache-2.0
#include "elf/debug_link.h"
#include "support/test.h"

#include <sys/mman.h>

static void a_link_is_a_name_and_a_crc_after_padding(void **state)
{
	static const char *const names[] = { "a", "ab", "abc", "abcd", "prog.debug" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char bytes[64] = "";
		size_t len = (strlen(names[i]) + 1 + 3) / 4 * 4 + 4;
		struct debug_link link;

		memcpy(bytes, names[i], strlen(names[i]));
		memcpy(bytes + len - 4, "\x78\x56\x34\x12", 4);
		assert_true(debug_link_parse((str){ bytes, len }, &link));
		assert_true(str_eq(link.name, str_from(names[i])));
		assert_int_equal(link.crc, 0x12345678);
		assert_false(debug_link_parse((str){ bytes, len - 1 }, &link));
	}
}

static void rejects_a_link_to_another_directory(void **state)
{
	static const str rows[] = {
		{ "a/b\0\1\2\3\4", 8 },
		{ "..\0\0\1\2\3\4", 8 },
		{ ".\0\0\0\1\2\3\4", 8 },
		{ "\0\0\0\0\1\2\3\4", 8 },
		{ "abc", 3 },
		{ "", 0 },
	};
	struct debug_link link;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_false(debug_link_parse(rows[i], &link));
}

static void an_altlink_is_a_path_and_a_build_id(void **state)
{
	static const char bytes[] = "../.dwz/x\0\1\2\3\4\5\6\7";
	struct debug_altlink link;

	(void)state;
	assert_true(debug_altlink_parse((str){ bytes, sizeof(bytes) - 1 }, &link));
	assert_true(str_eq(link.path, STR("../.dwz/x")));
	assert_int_equal(link.build_id.len, 7);
	assert_false(debug_altlink_parse((str){ bytes, strlen(bytes) }, &link));
	assert_false(debug_altlink_parse((str){ bytes, strlen(bytes) + 1 }, &link));
	assert_false(debug_altlink_parse((str){ bytes, strlen(bytes) + 3 }, &link));
	assert_false(debug_altlink_parse((str){ "\0\1\2\3\4\5", 6 }, &link));
}

static void the_crc_is_the_one_of_zip(void **state)
{
	AUTO_FD fd = memfd_create("crc", MFD_CLOEXEC);
	uint32_t crc;
	struct err err;

	(void)state;
	assert_int_equal(write(fd, "123456789", 9), 9);
	assert_true(debug_link_crc(fd, &crc, &err));
	assert_int_equal(crc, 0xcbf43926); /* the check value that is published with it */
}

RUN_TESTS(TEST(a_link_is_a_name_and_a_crc_after_padding), TEST(rejects_a_link_to_another_directory),
	  TEST(an_altlink_is_a_path_and_a_build_id), TEST(the_crc_is_the_one_of_zip))
