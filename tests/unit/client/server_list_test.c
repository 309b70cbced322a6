// SPDX-License-Identifier: Apache-2.0
#include "client/server_list.h"
#include "support/test.h"

static void parses_urls_in_their_order(void **state)
{
	struct server_list servers;
	struct err err;

	(void)state;
	assert_true(server_list_parse(&servers, " http://a:8002/, https://b/x//\thttp://c,", &err));
	assert_int_equal(servers.count, 3);
	assert_string_equal(servers.urls[0], "http://a:8002");
	assert_string_equal(servers.urls[1], "https://b/x");
	assert_string_equal(servers.urls[2], "http://c");
	server_list_done(&servers);
	assert_true(server_list_parse(&servers, "http://user:secret@a/", &err));
	assert_string_equal(servers.urls[0], "http://user:secret@a");
	assert_true(str_eq(servers.shown[0], STR("http://...@a")));
	server_list_done(&servers);
	assert_true(server_list_parse(&servers, "", &err)); /* no servers */
	assert_int_equal(servers.count, 0);
	server_list_done(&servers);
}

static void rejects_a_malformed_url_or_one_too_many(void **state)
{
	static const char *const wrong[] = { "a:8002", "ftp://a", "http://a file:///etc/passwd" };
	AUTO_ARENA arena = { 0 };
	str many = { 0 };
	struct server_list servers;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_false(server_list_parse(&servers, wrong[i], &err));
		assert_int_equal(err.code, ERR_INVALID);
	}
	for (size_t i = 0; i <= SERVERS_MAX; i++)
		many = str_format(&arena, STR_FMT " http://h%zu", STR_ARG(many), i);
	assert_false(server_list_parse(&servers, "ftp://user:secret@a", &err));
	assert_null(strstr(err.msg, "secret"));
	assert_false(server_list_parse(&servers, str_z(&arena, many), &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

RUN_TESTS(TEST(parses_urls_in_their_order), TEST(rejects_a_malformed_url_or_one_too_many))
