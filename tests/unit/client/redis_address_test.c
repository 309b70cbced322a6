// SPDX-License-Identifier: Apache-2.0
#include "client/redis_address.h"
#include "support/test.h"

static void an_address_has_these_parts(void **state)
{
	static const struct {
		const char *text, *host, *user, *password;
		uint16_t port;
		uint64_t number;
	} rows[] = {
		{ "h", "h", "", "", 6379, 0 },
		{ "h:7", "h", "", "", 7, 0 },
		{ "10.0.0.1:7", "10.0.0.1", "", "", 7, 0 },
		{ "[::1]:7", "::1", "", "", 7, 0 },
		{ "redis://[fe80::1%25eth0]", "fe80::1%eth0", "", "", 6379, 0 },
		{ "redis://h/", "h", "", "", 6379, 0 },
		{ "redis://h/3", "h", "", "", 6379, 3 },
		{ "redis://u:w@h:7/3", "h", "u", "w", 7, 3 },
		{ "redis://:w@h", "h", "", "w", 6379, 0 },
		{ "redis://w@h", "h", "", "w", 6379, 0 },
		{ "redis://u:p:w@h:7", "h", "u", "p:w", 7, 0 },
		{ "redis://u%40x:p%40%2f%3aw@[::1]:7/1", "::1", "u@x", "p@/:w", 7, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct redis_address address;
		struct err err;

		assert_true(redis_address_parse(rows[i].text, &arena, &address, &err));
		assert_string_equal(address.host, rows[i].host);
		assert_true(str_eq(address.user, str_from(rows[i].user)));
		assert_true(str_eq(address.password, str_from(rows[i].password)));
		assert_int_equal(address.port, rows[i].port);
		assert_int_equal(address.number, rows[i].number);
	}
}

static void a_malformed_address_is_rejected_without_quoting_it(void **state)
{
	static const char *const wrong[] = {
		"",
		":6379",
		"redis://",
		"redis://user:topsecret@h:99999",
		"redis://user:topsecret@h:0",
		"redis://user:topsecret@h:x",
		"redis://user:topsecret@:6379",
		"redis://user:topsecret@h/one",
		"redis://user:topsecret@h/1/2",
		"redis://user:topsecret@h?db=1",
		"redis://user:topsecret@h#1",
		"redis://user:top@secret@h",
		"redis://user:topsecret%zz@h x",
		"redis://user:topsecret%00@h",
		"redis://user:topsecret@[::1",
		"rediss://user:topsecret@h",
		"http://user:topsecret@h",
		"redis//user:topsecret@h:1:2",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		AUTO_ARENA arena = { 0 };
		struct redis_address address;
		struct err err = { 0 };

		assert_false(redis_address_parse(wrong[i], &arena, &address, &err));
		assert_int_equal(err.code, ERR_INVALID);
		assert_null(strstr(err.msg, "secret"));
	}
}

RUN_TESTS(TEST(an_address_has_these_parts),
	  TEST(a_malformed_address_is_rejected_without_quoting_it))
