// SPDX-License-Identifier: Apache-2.0
/*
 * http - an HTTP server that calls plain functions.
 *
 * A route maps a method and a path to a handler; a path that ends in a slash takes all below it,
 * but for "/", which is itself alone. A handler reads a request and fills a response, both in one
 * arena that lives for that request, and knows nothing of sockets or threads. That is also what
 * makes it testable: call it with a request, look at the response. A handler may block: every
 * connection has a thread of its own, up to `connections`, beyond which new ones are refused.
 * Bodies are collected up to the route's `body_max`, or given to the route piece by piece
 * (http_stream). HEAD is answered by GET's handler. A wrong method is 405, an unknown path 404, a
 * body too long 413, a URL too long 414; what these answers look like the service may say
 * (`refuse`). A request and the taking of its response have deadlines (limits.h). A connection
 * that is idle may be cut when others want in.
 */
#pragma once

#include "chassis/http_watch.h"
#include "chassis/url.h"

struct http_request {
	struct arena *arena;
	str method, path; /* the whole path, decoded, without the query */
	str below;        /* what follows the route's path */
	str body;
	const struct http_param *params; /* query parameters, decoded, in order */
	size_t param_count;
	const struct http_param *headers; /* as sent, in order */
	size_t header_count;
	void *stream; /* what the route's http_stream keeps between its calls */
	/* Asked when the client has left, or the server does not wait any more: for handlers that
	 * work long. NULL: nobody knows. */
	const struct stop *gone;
};

/* A piece of a file as a body. The descriptor becomes the server's. */
struct http_file {
	int fd;
	uint64_t offset, len;
};

struct http_response {
	int status;               /* 200 unless the handler says otherwise */
	const char *content_type; /* "text/plain; charset=utf-8" unless said */
	str body;
	const struct http_file *file; /* NULL; else it is sent in place of body */
	const struct http_param *headers;
	size_t header_count;
};

typedef void http_handler(void *service, const struct http_request *req, struct http_response *res);

/*
 * A body that is taken while it arrives, for routes whose bodies are too large to be collected.
 *
 * begin() sees the headers. A client that sent `Expect: 100-continue` is not told to go on before
 * it returns true; false: res is the answer, and nothing of the body is wanted. take() gets the
 * pieces in order; false: res is the answer, given when the rest has been read (HTTP_DRAIN_MAX of
 * it; a client with more to send is cut). After the last piece the route's handle() answers. end()
 * is called once for each begin() that returned true, however the request ended.
 */
struct http_stream {
	bool (*begin)(void *service, struct http_request *req, struct http_response *res);
	bool (*take)(void *service, const struct http_request *req, str piece,
		     struct http_response *res);
	void (*end)(void *service, const struct http_request *req);
	uint64_t whole_ms, stall_ms; /* deadlines of the whole body, and from piece to piece */
};

struct http_route {
	const char *method;
	const char *path;
	http_handler *handle;
	size_t body_max;                  /* 0: a body is refused */
	void *self;                       /* given to the handler; NULL: the server's service */
	const struct http_stream *stream; /* NULL: the body is collected */
};

/* Fill in the body for a refusal that no handler saw: res->status is set, `why` is a sentence. */
typedef void http_refuse(void *service, const struct http_request *req, const char *why,
			 struct http_response *res);

struct http_options {
	const char *address; /* "127.0.0.1:7070", ":7070", "[::1]:7070" */
	const struct http_route *routes;
	size_t route_count;
	void *service;                /* given to the handlers */
	http_refuse *refuse;          /* NULL: the sentence as plain text */
	unsigned int connections;     /* 0: HTTP_CONNECTIONS */
	uint64_t receive_ms, send_ms; /* 0: HTTP_REQUEST_SECONDS, HTTP_RESPONSE_SECONDS */
};

struct http_server {
	uint16_t port; /* it listens on */
	/* private */
	struct MHD_Daemon *daemon;
	struct http_options options;
	struct http_watch watch;
};

bool http_start(struct http_server *server, const struct http_options *options,
		struct err *err) MUST_CHECK;

/* Takes no more connections, lets those be finished that are being answered, ends the others.
 * Handlers that take too long find their client gone. */
void http_stop(struct http_server *server);

/* The first query parameter of that name; a NULL ptr when there is none. */
str http_query(const struct http_request *req, const char *name);

/* The first header of that name, in any case; a NULL ptr when there is none. */
str http_header(const struct http_request *req, const char *name);

/* For metrics_register(). */
enum { HTTP_METRICS = 5 };
extern struct metric *const http_metrics[HTTP_METRICS];
