// SPDX-License-Identifier: Apache-2.0
/*
 * http - an HTTP server that calls plain functions.
 *
 * A route maps a method and a path to a handler. A path that ends in a slash also matches all paths
 * below it; "/" matches only itself. A handler reads a request and fills in a response, both in one
 * arena that lives for the request, and does not deal with sockets or threads. A unit test can
 * therefore call it with a request and inspect the response.
 *
 * Each connection has a thread of its own, so a handler may block. If all `connections` are open,
 * or an address has its share of them, a further request gets a 503, except on routes of health
 * (`is_health`), for which connections are reserved. An idle connection, or one in the
 * middle of a request, may be closed to make room for a new one. A body is collected up to the
 * route's `body_max`, or passed to the route piece by piece (http_stream). HEAD is served by GET's
 * handler. A wrong method is 405, an unknown path 404, a body that is too long 413, a URL that is
 * too long 414; the service may format these error responses (`refuse`). Receiving a request and
 * sending its response have deadlines (limits.h).
 */
#pragma once

#include "server/http/http_watch_internal.h"
#include "server/http/url.h"

struct http_request {
	struct arena *arena;
	str method, path; /* the whole path, decoded, without the query */
	str below;        /* the part of the path after the route's path */
	str body;
	const struct http_param *params; /* query parameters, decoded, in order */
	size_t param_count;
	const struct http_param *headers; /* as received, in order */
	size_t header_count;
	/* The client's address: 16 bytes, as IPv6; of IPv6 only the network. NULL: not known. */
	const unsigned char *client;
	void *stream; /* private to the route's http_stream, kept between its calls */
	/* Cancelled when the client has disconnected or the server shuts down: for handlers that
	 * work for long. NULL: not available. */
	const struct cancel *gone;
};

/* A range of a file as a body. The server takes ownership of the descriptor. */
struct http_file {
	int fd;
	uint64_t offset, len;
};

struct http_response {
	int status;               /* preset to 200 */
	const char *content_type; /* preset to "text/plain; charset=utf-8" */
	str body;
	const struct http_file *file; /* sent instead of body; NULL: body is sent */
	const struct http_param *headers;
	size_t header_count;
	/* clock_monotonic_ns() at which the response must be sent, at least a second from now; 0:
	 * only the server's own deadline. Afterwards the connection is closed and counted. */
	uint64_t deadline_ns;
	uint64_t memory_counted; /* for http_options.freed */
};

/* Fills in `res`. Runs on the thread of the connection. */
typedef void http_handler(void *service, const struct http_request *req, struct http_response *res);

/*
 * Receives a body while it arrives, for routes whose bodies are too large to be collected.
 *
 * begin() is called after the headers. If it returns true, a client that sent `Expect:
 * 100-continue` gets its 100. If it returns false, `res` is the response and the body is discarded:
 * a long one after the response, up to HTTP_DISCARD_MAX.
 * on_piece() is called with each piece of the body, in order. If it returns false, `res` is the
 * response; it is sent after the remaining body has been read and discarded (at most
 * HTTP_DISCARD_MAX; if there is more, the connection is closed). After the last piece the route's
 * handle() makes the response. end() is called once for each begin() that returned true, however
 * the request ended.
 */
struct http_stream {
	bool (*begin)(void *service, struct http_request *req, struct http_response *res);
	bool (*on_piece)(void *service, const struct http_request *req, str piece,
			 struct http_response *res);
	void (*end)(void *service, const struct http_request *req);
	uint64_t whole_ms, stall_ms; /* timeouts of the whole body, and between two pieces */
	uint64_t slowest_bytes;      /* a second, on average, after the first stall_ms; 0: any */
};

struct http_route {
	const char *method;
	const char *path;
	http_handler *handle;
	size_t body_max;                  /* bytes; 0: a body is rejected */
	void *self;                       /* passed to the handler; NULL: http_options.service */
	const struct http_stream *stream; /* NULL: the body is collected */
	bool is_health; /* served on reserved connections as well; must respond at once */
};

/* Format the body of an error response that the server itself makes, without a handler. res->status
 * is set; `why` is a sentence. */
typedef void http_error_body(void *service, const struct http_request *req, const char *why,
			     struct http_response *res);

struct http_options {
	const char *address; /* "127.0.0.1:7070", ":7070", "[::1]:7070" */
	const struct http_route *routes;
	size_t route_count;
	void *service;               /* passed to the handlers */
	http_error_body *error_body; /* formats errors; NULL: the sentence as plain text */
	/* Called after a response has been sent, or given up, and its memory was freed, with
	 * http_response.memory_counted if that is not 0. NULL: not called. */
	void (*freed)(void *service, uint64_t memory_counted);
	unsigned int connections;     /* 0: HTTP_CONNECTIONS */
	unsigned int share_percent;   /* of the connections, for one client address; 0: 100 */
	uint64_t receive_ms, send_ms; /* 0: HTTP_REQUEST_SECONDS, HTTP_RESPONSE_SECONDS */
};

struct http_server {
	uint16_t port; /* that it listens on */
	/* private */
	struct MHD_Daemon *daemon;
	struct http_options options;
	struct http_watch watch;
};

/*
 * Listen and serve. `options` is copied; its routes and service must outlive the server, which must
 * not move until http_stop().
 */
bool http_start(struct http_server *server, const struct http_options *options,
		struct err *err) MUST_CHECK;

/* Accept no more connections, wait for the responses in progress, close the other connections.
 * Handlers that are not done after 2 s are cancelled (http_request.gone). A zeroed or stopped
 * server is accepted. */
void http_stop(struct http_server *server);

/* The first query parameter with this name; a NULL ptr if there is none. */
str http_query(const struct http_request *req, const char *name);

/* The first header with this name, ignoring case; a NULL ptr if there is none. */
str http_header(const struct http_request *req, const char *name);

/* For metrics_register(). */
extern struct metric *const http_metrics[];
