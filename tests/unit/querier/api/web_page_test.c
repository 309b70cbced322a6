// SPDX-License-Identifier: Apache-2.0
#include "querier/api/web_page.h"
#include "support/test.h"

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

static struct exchange *request_page(struct exchange *exchange, const char *path, const char *name,
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

static void serves_gzip_to_clients_that_accept_it(void **state)
{
	static const struct {
		const char *accepted;
		bool is_gzip;
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
		request_page(&exchange, "/", "accept-encoding", rows[i].accepted);
		web_page_serve(&built, &exchange.req, &exchange.res);
		assert_true(
			str_eq(exchange.res.body, rows[i].is_gzip ? STR("packed") : STR("<p>")));
		assert_int_equal(header(&exchange, "Content-Encoding").len > 0, rows[i].is_gzip);
		arena_free(&exchange.arena);
	}
}

static void forbids_content_of_other_hosts(void **state)
{
	struct exchange exchange;

	(void)state;
	web_page_serve(&built, &request_page(&exchange, "/", "accept", "text/html")->req,
		       &exchange.res);
	str policy = header(&exchange, "Content-Security-Policy");

	assert_true(str_starts_with(policy, STR("default-src 'none'; script-src 'self';")));
	assert_true(str_find(policy, STR("unsafe")) == SIZE_MAX);
	assert_true(str_eq(header(&exchange, "X-Content-Type-Options"), STR("nosniff")));
	arena_free(&exchange.arena);
}

static void revalidates_the_page_and_caches_assets(void **state)
{
	struct exchange exchange;

	(void)state;
	web_page_serve(&built, &request_page(&exchange, "/fleet", "accept", "text/html")->req,
		       &exchange.res);
	assert_true(str_eq(header(&exchange, "Cache-Control"), STR("no-cache")));
	assert_true(str_eq(exchange.res.body, STR("<p>")));
	arena_free(&exchange.arena);

	request_page(&exchange, "/assets/main-abc.js", "accept", "*/*");
	assert_true(web_page_serve_asset(&built, &exchange.req, &exchange.res));
	assert_true(str_find(header(&exchange, "Cache-Control"), STR("immutable")) != SIZE_MAX);
	assert_true(str_eq(exchange.res.body, STR("go()")));
	arena_free(&exchange.arena);
}

static void sends_no_body_if_the_etag_matches(void **state)
{
	struct exchange exchange;

	(void)state;
	web_page_serve(&built, &request_page(&exchange, "/", "If-None-Match", "\"one\"")->req,
		       &exchange.res);
	assert_int_equal(exchange.res.status, 304);
	assert_int_equal(exchange.res.body.len, 0);
	arena_free(&exchange.arena);

	web_page_serve(&built, &request_page(&exchange, "/", "If-None-Match", "\"old\"")->req,
		       &exchange.res);
	assert_int_equal(exchange.res.status, 200);
	arena_free(&exchange.arena);
}

static void has_no_file_outside_of_the_build(void **state)
{
	static const char *const paths[] = { "/assets/", "/assets/none.js", "/assets/../index" };
	struct exchange exchange;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		request_page(&exchange, paths[i], "accept", "*/*");
		assert_false(web_page_serve_asset(&built, &exchange.req, &exchange.res));
		assert_false(web_page_serve_asset(&absent, &exchange.req, &exchange.res));
	}
}

static void reports_why_there_is_no_page(void **state)
{
	struct exchange exchange;

	(void)state;
	web_page_serve(&absent, &request_page(&exchange, "/", "accept", "text/html")->req,
		       &exchange.res);
	assert_int_equal(exchange.res.status, 200);
	assert_true(str_find(exchange.res.body, STR("there was no Node.")) != SIZE_MAX);
	arena_free(&exchange.arena);
}

static void accepts_a_page_only_with_html_in_accept(void **state)
{
	static const struct {
		const char *accept;
		bool accepted;
	} rows[] = {
		{ "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true },
		{ "*/*", false },
		{ "application/json, text/html;q=0", false },
	};
	struct exchange exchange;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(
			web_page_accepted(
				&request_page(&exchange, "/", "Accept", rows[i].accept)->req),
			rows[i].accepted);
}

RUN_TESTS(TEST(serves_gzip_to_clients_that_accept_it), TEST(forbids_content_of_other_hosts),
	  TEST(revalidates_the_page_and_caches_assets), TEST(sends_no_body_if_the_etag_matches),
	  TEST(has_no_file_outside_of_the_build), TEST(reports_why_there_is_no_page),
	  TEST(accepts_a_page_only_with_html_in_accept))
