// SPDX-License-Identifier: Apache-2.0
/*
 * page - the files of the page in the browser, served out of the executable.
 *
 * tools/page.py builds services/querier/web and writes the files as bytes into the program. Files
 * under /assets/ have a hash of their content in their names and may be kept for ever; the page
 * itself is asked for anew each time, and is answered with 304 where it is the same. Any thread.
 */
#pragma once

#include "chassis/http.h"

struct web_page_file {
	const char *path; /* "/index.html", "/assets/NAME-HASH.js" */
	const char *content_type;
	const char *etag; /* with its quotes */
	str plain, gzip;  /* the same, for those who take gzip and those who do not */
};

struct web_page {
	const struct web_page_file *files;
	size_t file_count;   /* 0: the page was not built */
	const char *why_not; /* then: a sentence */
};

/* What was built into this program. */
extern const struct web_page web_page_built;

/* Whether the one who asks wants a page to look at, not text: a browser, not curl. */
bool web_page_accepted(const struct http_request *req);

/* The page itself, whatever its view: /, /fleet. Where it was not built, a page that says so. */
void web_page_serve(const struct web_page *page, const struct http_request *req,
		    struct http_response *res);

/* The file of that path. False: there is none. */
bool web_page_serve_asset(const struct web_page *page, const struct http_request *req,
			  struct http_response *res) MUST_CHECK;
