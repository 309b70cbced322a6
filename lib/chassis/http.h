/*
 * http - an HTTP server that calls plain functions.
 *
 * A route maps a method and a path to a handler; a path that ends in a slash takes all below it.
 * A handler reads a request and fills a response, both in one arena that lives for that request,
 * and knows nothing of sockets or threads. That is also what makes it testable: call it with a
 * request, look at the response. A handler may block: every connection has a thread of its own, up
 * to `connections`, beyond which new ones are refused. Bodies are collected up to the route's
 * `body_max`. A wrong method is 405, an unknown path 404, a body too long 413, a URL too long 414.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct http_request {
	struct arena *arena;
	str method, path; /* the whole path, decoded, without the query */
	str below;        /* what follows the route's path */
	str body;
	struct MHD_Connection *connection; /* private: NULL in tests */
	const struct http_param *params;   /* query parameters, decoded, in order */
	size_t param_count;
};

struct http_param {
	str name, value;
};

struct http_response {
	int status;               /* 200 unless the handler says otherwise */
	const char *content_type; /* "text/plain; charset=utf-8" unless said */
	str body;
	const struct http_param *headers;
	size_t header_count;
};

typedef void http_handler(void *service, const struct http_request *req, struct http_response *res);

struct http_route {
	const char *method;
	const char *path;
	http_handler *handle;
	size_t body_max; /* 0: a body is refused */
};

struct http_server {
	struct MHD_Daemon *daemon; /* private */
	const struct http_route *routes;
	size_t route_count;
	void *service;
};

struct http_options {
	const char *address; /* "127.0.0.1:7070", ":7070", "[::1]:7070" */
	const struct http_route *routes;
	size_t route_count;
	void *service;            /* given to the handlers */
	unsigned int connections; /* 0: 256 */
};

bool http_start(struct http_server *server, const struct http_options *options,
		struct err *err) MUST_CHECK;
void http_stop(struct http_server *server);

/* The first query parameter of that name; a NULL ptr when there is none. */
str http_query(const struct http_request *req, const char *name);
