// SPDX-License-Identifier: Apache-2.0
/* Bounds of lib/server/limits.h. */
#include "limits/limit.h"
#include "server/limits.h"

static const struct limit rows[] = {
	LIMIT(HTTP_CONNECTIONS, COUNT, "open connections, unless the service sets another number",
	      "a new connection is closed, `decima_http_refused_connections_total`"),
	LIMIT(HTTP_SPARE_DIVISOR, COUNT,
	      "the fraction of connections, 1/N, that is kept free of idle ones",
	      "the connection idle longest is closed, `decima_http_evictions_total`"),
	LIMIT(HTTP_EXCESS_CONNECTIONS, COUNT,
	      "connections beyond `HTTP_CONNECTIONS` that are being closed",
	      "further ones wait in the kernel's queue"),
	LIMIT(HTTP_MEMORY_MAX, BYTES, "request line and headers of a request",
	      "431 or 413 by libmicrohttpd, not counted"),
	LIMIT(HTTP_URL_MAX, BYTES, "a URL", "414, `decima_http_requests_total`"),
	LIMIT(HTTP_PARAMS_MAX, COUNT, "parameters of a query string",
	      "400 with a sentence, `decima_http_requests_total`"),
	LIMIT(HTTP_DRAIN_MAX, BYTES,
	      "a rejected body that is read before the response, if its length is stated",
	      "the response comes first, and its connection is closed"),
	LIMIT(HTTP_DISCARD_MAX, BYTES, "a longer rejected body that is read and discarded",
	      "the connection is closed, `decima_http_unread_bodies_total`"),
	LIMIT(HTTP_DISCARD_SECONDS, SECONDS, "reading and discarding such a body",
	      "the connection is closed, `decima_http_timeouts_total`"),
	LIMIT(HTTP_DISCARD_PAUSE_MS, MS, "a pause of such a body",
	      "the connection is closed: the client has stopped sending"),
	LIMIT(HTTP_REQUEST_SECONDS, SECONDS,
	      "receiving a request, including the idle time before it",
	      "the connection is closed, `decima_http_timeouts_total`"),
	LIMIT(HTTP_RESPONSE_SECONDS, SECONDS, "sending a response",
	      "the connection is closed, `decima_http_timeouts_total`"),
	LIMIT(HTTP_SLOWEST_BYTES, BYTES,
	      "bytes of a response for each of which its deadline is a second later",
	      "the connection is closed, `decima_http_timeouts_total`"),
	LIMIT(HTTP_ROUTES_MAX, COUNT, "paths by which requests are counted",
	      "requests count under the route `none`"),
	LIMIT(METRICS_MAX, COUNT, "metrics of a program", "the program aborts at startup: a bug"),
	LIMIT(HEALTHCHECK_SECONDS, SECONDS, "waiting for the response to `--healthcheck`",
	      "exit status 1 with a sentence"),
};

const struct limit_table server_limits = TABLE("lib/server/limits.h", rows);
