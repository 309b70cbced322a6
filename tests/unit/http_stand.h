// SPDX-License-Identifier: Apache-2.0
/*
 * http_stand - what a socket hears from a server of our own.
 *
 *     str answer = ask(&arena, "GET /greet?name=you", "", (str){ 0 });
 *     assert_status(answer, "200");
 *
 *     RUN_WITH_SERVER(IMPATIENT(routes), TEST(...), TEST(...))
 */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "chassis/limits.h"
#include "chassis/socket.h"
#include "own_server.h"

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

/* It has eight places, and little patience. */
#define IMPATIENT(list)                                                                  \
	&(struct http_options)                                                           \
	{                                                                                \
		OWN_ROUTES(list), .refuse = refuse, .connections = 8, .receive_ms = 400, \
				  .send_ms = 500                                         \
	}

static inline str hear(struct arena *arena, int fd)
{
	struct buf heard = { .arena = arena };
	ssize_t n;

	while ((n = recv(fd, buf_reserve(&heard, 4096), 4096, 0)) > 0)
		heard.len += (size_t)n;
	return buf_bytes(&heard);
}

static inline int dial(void)
{
	char address[64];
	struct err err;
	int fd = -1;

	snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned int)server.port);
	assert_true(socket_connect(address, 5000, &fd, &err));
	return fd;
}

static inline void say(int fd, str text)
{
	assert_int_equal(send(fd, text.ptr, text.len, MSG_NOSIGNAL), text.len);
}

static inline str ask(struct arena *arena, const char *line, const char *headers, str body)
{
	AUTO_FD fd = dial();

	say(fd, str_format(arena, "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", line,
			   headers));
	if (body.len)
		say(fd, body);
	return hear(arena, fd);
}

static inline void assert_status(str answer, const char *status)
{
	assert_true(answer.len > 12);
	assert_memory_equal(answer.ptr + 9, status, 3);
}
