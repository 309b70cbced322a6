// SPDX-License-Identifier: Apache-2.0
/*
 * own_server - runs tests with an HTTP server in the same process, on a free port.
 *
 *     static const struct http_route routes[] = { ... };
 *     RUN_WITH_SERVER(&(struct http_options){ OWN_ROUTES(routes) }, TEST(...), TEST(...))
 */
#pragma once

#include "server/http/http.h"
#include "support/test.h"

static struct http_server server;

#define OWN_ROUTES(list) .address = "127.0.0.1:0", .routes = (list), .route_count = ARRAY_LEN(list)

static inline int own_server_start(const struct http_options *options)
{
	struct err err;

	unsetenv("http_proxy");
	return http_start(&server, options, &err) ? 0 : -1;
}

static inline int own_server_stop(void **state)
{
	(void)state;
	http_stop(&server);
	return 0;
}

/* Replaces RUN_TESTS. */
#define RUN_WITH_SERVER(options, ...)                                                    \
	static int own_server_begin(void **state)                                        \
	{                                                                                \
		(void)state;                                                             \
		return own_server_start(options);                                        \
	}                                                                                \
	int main(void)                                                                   \
	{                                                                                \
		const struct CMUnitTest tests[] = { __VA_ARGS__ };                       \
		return cmocka_run_group_tests(tests, own_server_begin, own_server_stop); \
	}
