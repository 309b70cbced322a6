// SPDX-License-Identifier: Apache-2.0
/*
 * limits - bounds of the HTTP server and the metrics registry that every service has.
 *
 * Rejected requests count in decima_http_requests_total by status, connections closed at a deadline
 * in decima_http_timeouts_total, requests and connections beyond HTTP_CONNECTIONS in
 * decima_http_refused_connections_total, those beyond an address's share in
 * decima_http_address_share_refused_total. decima_http_connections is the number of open
 * connections.
 */
#pragma once

#include "base/limit.h"

#define SERVER_LIMITS(LIMIT)                                                                      \
	LIMIT(HTTP_CONNECTIONS, 256, COUNT,                                                       \
	      "open connections, unless the service sets another number",                         \
	      "503, `decima_http_refused_connections_total`")                                     \
	LIMIT(HTTP_RESERVED_CONNECTIONS, 16, COUNT,                                               \
	      "further connections, on which only health and metrics are served",                 \
	      "503, `decima_http_refused_connections_total`; beyond: closed")                     \
	LIMIT(HTTP_SPARE_DIVISOR, 8, COUNT,                                                       \
	      "connections, 1/N of all, kept free of idle ones and of unfinished requests",       \
	      "the one with the least time left is closed, `decima_http_evictions_total`, "       \
	      "`decima_http_evicted_requests_total`")                                             \
	LIMIT(HTTP_EXCESS_CONNECTIONS, 16, COUNT,                                                 \
	      "connections beyond the reserved ones that are being closed",                       \
	      "further ones wait in the kernel's queue")                                          \
	LIMIT(HTTP_MEMORY_MAX, 160 << 10, BYTES, "request line and headers of a request",         \
	      "431 or 413 by libmicrohttpd, not counted")                                         \
	LIMIT(HTTP_URL_MAX, 64 << 10, BYTES, "a URL", "414, `decima_http_requests_total`")        \
	LIMIT(HTTP_PARAMS_MAX, 256, COUNT, "parameters of a query string",                        \
	      "400 with a sentence, `decima_http_requests_total`")                                \
	LIMIT(HTTP_BODIES_MAX, 256 << 20, BYTES, "memory of the bodies of all requests",          \
	      "503 with a sentence, `decima_http_bodies_refused_total`")                          \
	LIMIT(HTTP_BODY_SMALL, 64 << 10, BYTES, "a body that does not count for it", "it counts") \
	LIMIT(HTTP_DRAIN_MAX, 1 << 20, BYTES,                                                     \
	      "a rejected body that is read before the response, if its length is stated",        \
	      "the response comes first, and its connection is closed")                           \
	LIMIT(HTTP_DISCARD_MAX, 256 << 20, BYTES,                                                 \
	      "a longer rejected body that is read and discarded",                                \
	      "the connection is closed, `decima_http_unread_bodies_total`")                      \
	LIMIT(HTTP_DISCARD_SECONDS, 30, SECONDS, "reading and discarding such a body",            \
	      "the connection is closed, `decima_http_timeouts_total`")                           \
	LIMIT(HTTP_DISCARD_PAUSE_MS, 2000, MS, "a pause of such a body",                          \
	      "the connection is closed: the client has stopped sending")                         \
	LIMIT(HTTP_REQUEST_SECONDS, 30, SECONDS,                                                  \
	      "receiving a request, including the idle time before it",                           \
	      "the connection is closed, `decima_http_timeouts_total`")                           \
	LIMIT(HTTP_RESPONSE_SECONDS, 300, SECONDS, "sending a response",                          \
	      "the connection is closed, `decima_http_timeouts_total`")                           \
	LIMIT(HTTP_SLOWEST_BYTES, 1 << 20, BYTES,                                                 \
	      "bytes of a response for each of which its deadline is a second later",             \
	      "the connection is closed, `decima_http_timeouts_total`")                           \
	LIMIT(HTTP_ROUTES_MAX, 64, COUNT, "paths by which requests are counted",                  \
	      "requests count under the route `none`")                                            \
	LIMIT(METRICS_MAX, 128, COUNT, "metrics of a program",                                    \
	      "the program aborts at startup: a bug")                                             \
	LIMIT(HEALTHCHECK_SECONDS, 5, SECONDS, "waiting for the response to `--healthcheck`",     \
	      "exit status 1 with a sentence")

SERVER_LIMITS(LIMIT_CONSTANT)
