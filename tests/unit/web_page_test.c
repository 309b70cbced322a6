// SPDX-License-Identifier: Apache-2.0
#include "test.h"
#include "web_page.h"

static const struct web_page_file files[] = {
	{ .path = "/index.html",
	  .content_type = "text/html; charset=utf-8",
	  .etag = "\"one\"",
	  .plain = { "<p>", 3 },
	  .gzip = { "packed", 6 } },
	{ .path = "/assets/main-abc.js",
	  .content_type = "text/javascript; charset=utf-8",
	  .etag = "\"two\"",
	  .plain = { "go()", 4 },
	  .gzip = { "packed js", 9 } },
};
static const struct web_page built = { .files = files, .file_count = ARRAY_LEN(files) };
static const struct web_page absent = { .why_not = "there was no Node." };

struct exchange {
	struct arena arena;
	struct http_param headers[2];
	struct http_request req;
	struct http_response res;
};

static struct exchange *ask(struct exchange *exchange, const char *path, const char *name,
			    const char *value)
{
	*exchange = (struct exchange){ .headers = { { str_from(name), str_from(value) } },
				       .res = { .status = 200 } };
	exchange->req = (struct http_request){ .arena = &exchange->arena,
					       .path = str_from(path),
					       .headers = exchange->headers,
					       .header_count = 1 };
	return exchange;
}

static str header(const struct exchange *exchange, const char *name)
{
	for (size_t i = 0; i < exchange->res.header_count; i++) {
		if (str_eq(exchange->res.headers[i].name, str_from(name)))
			return exchange->res.headers[i].value;
	}
	return (str){ 0 };
}

static void gives_gzip_to_those_who_take_it(void **state)
{
	static const struct {
		const char *accepted;
		bool packed;
	} rows[] = {
		{ "gzip, deflate, br", true },
		{ "br;q=1.0, GZIP;q=0.8", true },
		{ "", false },
		{ "gzip;q=0", false },
		{ "br, gzip; q=0", false },
		{ "gzipped", false },
	};
	struct exchange exchange;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		ask(&exchange, "/", "accept-encoding", rows[i].accepted);
		web_page_serve(&built, &exchange.req, &exchange.res);
		assert_true(str_eq(exchange.res.body, rows[i].packed ? STR("packed") : STR("<p>")));
		assert_int_equal(header(&exchange, "Content-Encoding").len > 0, rows[i].packed);
		arena_free(&exchange.arena);
	}
}

static void forbids_what_did_not_come_from_here(void **state)
{
	struct exchange exchange;

	(void)state;
	web_page_serve(&built, &ask(&exchange, "/", "accept", "text/html")->req, &exchange.res);
	str policy = header(&exchange, "Content-Security-Policy");

	assert_true(str_starts_with(policy, STR("default-src 'none'; script-src 'self';")));
	assert_true(str_find(policy, STR("unsafe")) == SIZE_MAX);
	assert_true(str_eq(header(&exchange, "X-Content-Type-Options"), STR("nosniff")));
	arena_free(&exchange.arena);
}

static void asks_anew_for_the_page_and_keeps_assets(void **state)
{
	struct exchange exchange;

	(void)state;
	web_page_serve(&built, &ask(&exchange, "/fleet", "accept", "text/html")->req,
		       &exchange.res);
	assert_true(str_eq(header(&exchange, "Cache-Control"), STR("no-cache")));
	assert_true(str_eq(exchange.res.body, STR("<p>")));
	arena_free(&exchange.arena);

	ask(&exchange, "/assets/main-abc.js", "accept", "*/*");
	assert_true(web_page_serve_asset(&built, &exchange.req, &exchange.res));
	assert_true(str_find(header(&exchange, "Cache-Control"), STR("immutable")) != SIZE_MAX);
	assert_true(str_eq(exchange.res.body, STR("go()")));
	arena_free(&exchange.arena);
}

static void sends_no_body_where_the_page_is_known(void **state)
{
	struct exchange exchange;

	(void)state;
	web_page_serve(&built, &ask(&exchange, "/", "If-None-Match", "\"one\"")->req,
		       &exchange.res);
	assert_int_equal(exchange.res.status, 304);
	assert_int_equal(exchange.res.body.len, 0);
	arena_free(&exchange.arena);

	web_page_serve(&built, &ask(&exchange, "/", "If-None-Match", "\"old\"")->req,
		       &exchange.res);
	assert_int_equal(exchange.res.status, 200);
	arena_free(&exchange.arena);
}

static void has_no_file_that_was_not_built(void **state)
{
	static const char *const paths[] = { "/assets/", "/assets/none.js", "/assets/../index" };
	struct exchange exchange;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		ask(&exchange, paths[i], "accept", "*/*");
		assert_false(web_page_serve_asset(&built, &exchange.req, &exchange.res));
		assert_false(web_page_serve_asset(&absent, &exchange.req, &exchange.res));
	}
}

static void says_why_there_is_no_page(void **state)
{
	struct exchange exchange;

	(void)state;
	web_page_serve(&absent, &ask(&exchange, "/", "accept", "text/html")->req, &exchange.res);
	assert_int_equal(exchange.res.status, 200);
	assert_true(str_find(exchange.res.body, STR("there was no Node.")) != SIZE_MAX);
	arena_free(&exchange.arena);
}

static void wants_a_page_only_where_html_is_accepted(void **state)
{
	static const struct {
		const char *accept;
		bool wanted;
	} rows[] = {
		{ "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true },
		{ "*/*", false },
		{ "application/json, text/html;q=0", false },
	};
	struct exchange exchange;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(
			web_page_accepted(&ask(&exchange, "/", "Accept", rows[i].accept)->req),
			rows[i].wanted);
}

RUN_TESTS(TEST(gives_gzip_to_those_who_take_it), TEST(forbids_what_did_not_come_from_here),
	  TEST(asks_anew_for_the_page_and_keeps_assets),
	  TEST(sends_no_body_where_the_page_is_known), TEST(has_no_file_that_was_not_built),
	  TEST(says_why_there_is_no_page), TEST(wants_a_page_only_where_html_is_accepted))
