// SPDX-License-Identifier: Apache-2.0
#include "querier/api/web_page.h"

#include <strings.h>

/*
 * Allow only content from this server: no inline script or style, no eval, no other host, no
 * embedding in frames. So text from function names can never run as code.
 */
#define POLICY                                                                                  \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src " \
	"'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#define HEADER(name, value)                      \
	{                                        \
		{ name, sizeof(name) - 1 },      \
		{                                \
			value, sizeof(value) - 1 \
		}                                \
	}

enum { OWN_HEADERS = 7 };

static const struct http_param headers[OWN_HEADERS - 3] = {
	HEADER("Content-Security-Policy", POLICY),
	HEADER("X-Content-Type-Options", "nosniff"),
	HEADER("Referrer-Policy", "no-referrer"),
	HEADER("Vary", "Accept, Accept-Encoding"),
};

/*
 * True if a comma-separated list has the word, in any case, without q=0. Sufficient for Accept and
 * Accept-Encoding.
 */
static bool has_word(str list, str word)
{
	while (list.len) {
		str item = str_cut(&list, ',');
		str name = str_trim(str_cut(&item, ';'));

		if (name.len == word.len && strncasecmp(name.ptr, word.ptr, word.len) == 0)
			return !str_eq(str_trim(item), STR("q=0"));
	}
	return false;
}

bool web_page_accepted(const struct http_request *req)
{
	return has_word(http_header(req, "Accept"), STR("text/html"));
}

static const struct web_page_file *find(const struct web_page *page, str path)
{
	for (size_t i = 0; i < page->file_count; i++) {
		if (str_eq(str_from(page->files[i].path), path))
			return &page->files[i];
	}
	return NULL;
}

static void serve_file(const struct web_page_file *file, const char *cache_control,
		       const struct http_request *req, struct http_response *res)
{
	bool is_gzip = has_word(http_header(req, "Accept-Encoding"), STR("gzip"));
	struct http_param *all_headers = arena_array(req->arena, struct http_param, OWN_HEADERS);
	size_t count = ARRAY_LEN(headers);

	memcpy(all_headers, headers, sizeof(headers));
	all_headers[count++] = (struct http_param){ STR("Cache-Control"), str_from(cache_control) };
	all_headers[count++] = (struct http_param){ STR("ETag"), str_from(file->etag) };
	if (is_gzip)
		all_headers[count++] = (struct http_param){ STR("Content-Encoding"), STR("gzip") };
	res->headers = all_headers;
	res->header_count = count;
	res->content_type = file->content_type;
	if (str_eq(http_header(req, "If-None-Match"), str_from(file->etag)))
		res->status = 304;
	else
		res->body = is_gzip ? file->gzip : file->plain;
}

/* Serve a page with the reason why there is no page, and links to the API. */
static void serve_reason(const struct web_page *page, const struct http_request *req,
			 struct http_response *res)
{
	res->headers = headers;
	res->header_count = ARRAY_LEN(headers);
	res->content_type = "text/html; charset=utf-8";
	res->body = str_format(
		req->arena,
		"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Decima</title>"
		"<h1>The page is not built</h1><p>%s<p>The API is here: <a "
		"href=\"/api/v1/query?query={}&amp;report=collapsed\">stacks of the last hour</a>, "
		"<a href=\"/api/v1/fleet\">hosts</a>; docs/api.md describes all endpoints.\n",
		page->why_not);
}

void web_page_serve(const struct web_page *page, const struct http_request *req,
		    struct http_response *res)
{
	const struct web_page_file *file = find(page, STR("/index.html"));

	if (file)
		serve_file(file, "no-cache", req, res);
	else
		serve_reason(page, req, res);
}

bool web_page_serve_asset(const struct web_page *page, const struct http_request *req,
			  struct http_response *res)
{
	const struct web_page_file *file = find(page, req->path);

	if (file)
		serve_file(file, "public, max-age=31536000, immutable", req, res);
	return file != NULL;
}
