// SPDX-License-Identifier: Apache-2.0
/* Bounds of lib/chassis/limits.h. */
#include "chassis/limits.h"
#include "limits/limit.h"

static const struct limit rows[] = {
	LIMIT(HTTP_CONNECTIONS, COUNT, "open connections, where the service says no other number",
	      "one more is cut, `decima_http_refused_connections_total`"),
	LIMIT(HTTP_SPARE_PART, COUNT,
	      "the part of them that is kept free of idle ones: one in so many",
	      "the one that was idle longest is cut, `decima_http_evictions_total`"),
	LIMIT(HTTP_REFUSED_AT_ONCE, COUNT, "connections being cut for that reason",
	      "further ones wait in the kernel's queue"),
	LIMIT(HTTP_MEMORY_MAX, BYTES, "request line and headers of a request",
	      "431 or 413 by libmicrohttpd, which counts nothing"),
	LIMIT(HTTP_URL_MAX, BYTES, "a URL", "414, `decima_http_requests_total`"),
	LIMIT(HTTP_PARAMS_MAX, COUNT, "parameters of a query",
	      "400 with a sentence, `decima_http_requests_total`"),
	LIMIT(HTTP_DRAIN_MAX, BYTES, "a refused body that is read, so that its answer arrives",
	      "the connection is closed"),
	LIMIT(HTTP_REQUEST_SECONDS, SECONDS, "a request from first to last byte, idle too",
	      "the connection is cut, `decima_http_timeouts_total`"),
	LIMIT(HTTP_RESPONSE_SECONDS, SECONDS, "time to take an answer away",
	      "the connection is cut, `decima_http_timeouts_total`"),
	LIMIT(HTTP_SLOWEST_BYTES, BYTES, "an answer's part that is given a second more",
	      "the connection is cut, `decima_http_timeouts_total`"),
	LIMIT(HTTP_ROUTES_MAX, COUNT, "paths that requests are counted by",
	      "requests count as of route `none`"),
	LIMIT(METRICS_MAX, COUNT, "metrics of a program", "it ends at its start: a defect of ours"),
	LIMIT(HEALTHCHECK_SECONDS, SECONDS, "an answer to `--healthcheck`",
	      "exit 1 with a sentence"),
};

const struct limit_table chassis_limits = TABLE("lib/chassis/limits.h", rows);
