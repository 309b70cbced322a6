// SPDX-License-Identifier: Apache-2.0
#include "support/http_stand.h"

static void below(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	res->body = req->below;
}

/* The middle of a file of ten digits. */
static void digits(void *service, const struct http_request *req, struct http_response *res)
{
	struct http_file *file = arena_new(req->arena, struct http_file);
	FILE *temp = tmpfile();

	(void)service;
	assert_non_null(temp);
	assert_true(fputs("0123456789", temp) >= 0 && fflush(temp) == 0);
	*file = (struct http_file){ .fd = dup(fileno(temp)), .offset = 3, .len = 4 };
	fclose(temp);
	res->file = file;
}

static const struct http_route routes[] = {
	{ .method = "GET", .path = "/digits", .handle = digits },
	{ .method = "GET", .path = "/", .handle = greet },
	{ .method = "GET", .path = "/greet", .handle = greet },
	{ .method = "POST", .path = "/echo", .handle = echo, .body_max = 1000 },
	{ .method = "GET", .path = "/below/", .handle = below },
};

static void responds_with_decoded_parameters_and_length(void **state)
{
	AUTO_ARENA arena = { 0 };
	str response = request(&arena, "GET /greet?x=1&name=a%20b+c", "", (str){ 0 });

	(void)state;
	assert_status(response, "200");
	assert_true(str_ends_with(response, STR("\r\n\r\nhello a b c")));
	assert_true(str_find(response, STR("Content-Length: 11\r\n")) != SIZE_MAX);
	assert_true(str_find(response, STR("Content-Type: text/plain; charset=utf-8\r\n")) !=
		    SIZE_MAX);
	assert_true(str_find(response, STR("X-Test: yes\r\n")) != SIZE_MAX);
}

static void head_is_get_without_the_body(void **state)
{
	AUTO_ARENA arena = { 0 };
	str response = request(&arena, "HEAD /greet?name=ab", "", (str){ 0 });

	(void)state;
	assert_status(response, "200");
	assert_true(str_find(response, STR("Content-Length: 8\r\n")) != SIZE_MAX);
	assert_true(str_ends_with(response, STR("\r\n\r\n")));
}

static void a_path_with_a_slash_matches_all_below_it(void **state)
{
	AUTO_ARENA arena = { 0 };
	str response = request(&arena, "GET /below/a%20b/values", "", (str){ 0 });

	(void)state;
	assert_status(response, "200");
	assert_true(str_ends_with(response, STR("\r\n\r\na b/values")));
}

static void the_root_matches_only_itself(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_status(request(&arena, "GET /", "", (str){ 0 }), "200");
	assert_status(request(&arena, "GET /nowhere", "", (str){ 0 }), "404");
}

static void errors_have_a_status_and_a_sentence(void **state)
{
	AUTO_ARENA arena = { 0 };
	str response = request(&arena, "GET /nowhere", "", (str){ 0 });

	(void)state;
	assert_status(response, "404");
	assert_true(str_ends_with(response, STR("refused: nothing is served at this path")));
	response = request(&arena, "DELETE /greet", "", (str){ 0 });
	assert_status(response, "405");
	assert_true(str_find(response, STR("Allow: GET\r\n")) != SIZE_MAX);
	assert_status(request(&arena, "GET /greet?name=%zz", "", (str){ 0 }), "400");
}

static void a_url_too_long_is_414(void **state)
{
	AUTO_ARENA arena = { 0 };
	size_t len = HTTP_URL_MAX + 1;
	char *line = arena_array(&arena, char, len + 16);

	(void)state;
	memcpy(line, "GET /greet?name=", 16);
	memset(line + 16, 'a', len - 16 + 4);
	assert_status(request(&arena, line, "", (str){ 0 }), "414");
	line[4 + HTTP_URL_MAX] = 0;
	assert_status(request(&arena, line, "", (str){ 0 }), "200");
}

static void collects_a_body_up_to_its_limit(void **state)
{
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, 4000);
	str response;

	(void)state;
	memset(text, 'x', 4000);
	response = request(&arena, "POST /echo", "Content-Length: 1000\r\n", (str){ text, 1000 });
	assert_status(response, "201");
	assert_true(str_find(response, STR("Content-Length: 1000\r\n")) != SIZE_MAX);
	assert_status(
		request(&arena, "POST /echo", "Content-Length: 1001\r\n", (str){ text, 1001 }),
		"413");
	assert_status(request(&arena, "POST /echo",
			      "Content-Length: 99999999\r\nExpect: 100-continue\r\n", (str){ 0 }),
		      "413");
	assert_status(request(&arena, "GET /greet", "Content-Length: 1\r\n", STR("x")), "413");
}

static void a_chunked_body_has_the_same_limit(void **state)
{
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, 5 + 1001 + 7);
	str response = request(&arena, "POST /echo", "Transfer-Encoding: chunked\r\n",
			       STR("3\r\nabc\r\n0\r\n\r\n"));

	(void)state;
	assert_status(response, "201");
	assert_true(str_ends_with(response, STR("\r\n\r\nabc")));
	memcpy(text, "3e9\r\n", 5);
	memset(text + 5, 'x', 1001);
	memcpy(text + 5 + 1001, "\r\n0\r\n\r\n", 7);
	assert_status(request(&arena, "POST /echo", "Transfer-Encoding: chunked\r\n",
			      (str){ text, 5 + 1001 + 7 }),
		      "413");
}

static void a_range_of_a_file_is_a_body(void **state)
{
	AUTO_ARENA arena = { 0 };
	str response = request(&arena, "GET /digits", "", (str){ 0 });

	(void)state;
	assert_status(response, "200");
	assert_true(str_find(response, STR("Content-Length: 4\r\n")) != SIZE_MAX);
	assert_true(str_ends_with(response, STR("\r\n\r\n3456")));
	response = request(&arena, "HEAD /digits", "", (str){ 0 });
	assert_true(str_find(response, STR("Content-Length: 4\r\n")) != SIZE_MAX);
	assert_true(str_ends_with(response, STR("\r\n\r\n")));
}

static void an_error_names_the_malformed_address(void **state)
{
	static const char *const rows[] = {
		"", "7070", "x", "::1:7070", "127.0.0.1:99999", "[::1"
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_server other = { 0 };
		struct http_options options = { .address = rows[i] };

		assert_false(http_start(&other, &options, &err));
		assert_int_equal(err.code, ERR_INVALID);
		http_stop(&other);
	}
}

static void listens_on_every_address_and_ipv6(void **state)
{
	static const char *const rows[] = { ":0", "localhost:0", "[::1]:0" };
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_server other = { 0 };
		struct http_options options = { .address = rows[i], .routes = routes };
		AUTO_FD fd = -1;
		char port[16];

		if (!http_start(&other, &options, &err)) {
			assert_int_equal(i, 2); /* a machine without IPv6 */
			continue;
		}
		snprintf(port, sizeof(port), "%s:%u", i == 2 ? "[::1]" : "",
			 (unsigned int)other.port);
		assert_true(socket_connect(port, 1000, &fd, &err));
		http_stop(&other);
	}
}

RUN_WITH_SERVER(WITH_SHORT_TIMEOUTS(routes), TEST(responds_with_decoded_parameters_and_length),
		TEST(head_is_get_without_the_body), TEST(a_path_with_a_slash_matches_all_below_it),
		TEST(the_root_matches_only_itself), TEST(errors_have_a_status_and_a_sentence),
		TEST(a_url_too_long_is_414), TEST(collects_a_body_up_to_its_limit),
		TEST(a_chunked_body_has_the_same_limit), TEST(a_range_of_a_file_is_a_body),
		TEST(an_error_names_the_malformed_address), TEST(listens_on_every_address_and_ipv6))
