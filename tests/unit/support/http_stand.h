// SPDX-License-Identifier: Apache-2.0
/*
 * http_stand - helpers for tests that send requests to an HTTP server in the same process.
 *
 *     str response = request(&arena, "GET /greet?name=you", "", (str){ 0 });
 *     assert_status(response, "200");
 *
 *     RUN_WITH_SERVER(WITH_SHORT_TIMEOUTS(routes), TEST(...), TEST(...))
 */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "server/http/socket.h"
#include "server/limits.h"
#include "support/own_server.h"

#include <stdio.h>
#include <sys/socket.h>

static inline void greet(void *service, const struct http_request *req, struct http_response *res)
{
	static const struct http_param header = { { "X-Test", 6 }, { "yes", 3 } };

	(void)service;
	res->headers = &header;
	res->header_count = 1;
	res->body = str_format(req->arena, "hello " STR_FMT, STR_ARG(http_query(req, "name")));
}

static inline void echo(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	res->status = 201;
	res->body = req->body;
}

static inline void refuse(void *service, const struct http_request *req, const char *why,
			  struct http_response *res)
{
	(void)service;
	res->body = str_format(req->arena, "refused: %s", why);
}

/* Eight connections and short timeouts. */
#define WITH_SHORT_TIMEOUTS(list)                                                            \
	&(struct http_options)                                                               \
	{                                                                                    \
		OWN_ROUTES(list), .error_body = refuse, .connections = 8, .receive_ms = 400, \
				  .send_ms = 500                                             \
	}

static inline str receive_all(struct arena *arena, int fd)
{
	struct buf received = { .arena = arena };
	ssize_t n;

	while ((n = recv(fd, buf_reserve(&received, 4096), 4096, 0)) > 0)
		received.len += (size_t)n;
	return buf_bytes(&received);
}

static inline int connect_to_server(void)
{
	char address[64];
	struct err err;
	int fd = -1;

	snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned int)server.port);
	assert_true(socket_connect(address, 5000, &fd, &err));
	return fd;
}

static inline void send_text(int fd, str text)
{
	assert_int_equal(send(fd, text.ptr, text.len, MSG_NOSIGNAL), text.len);
}

static inline str request(struct arena *arena, const char *line, const char *headers, str body)
{
	AUTO_FD fd = connect_to_server();

	send_text(fd, str_format(arena, "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n",
				 line, headers));
	if (body.len)
		send_text(fd, body);
	return receive_all(arena, fd);
}

static inline void assert_status(str response, const char *status)
{
	assert_true(response.len > 12);
	assert_memory_equal(response.ptr + 9, status, 3);
}
