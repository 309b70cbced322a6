// SPDX-License-Identifier: Apache-2.0
/*
 * http_metrics - the metrics of the HTTP server. Any thread may update them.
 */
#pragma once

#include "server/http/http.h"
#include "server/http/http_body_internal.h"
#include "server/metrics/metrics.h"

#define HTTP_METRICS(ROW)                                                                          \
	ROW(http_requests_total, METRIC_COUNTER, "decima_http_requests_total",                     \
	    "HTTP responses, by route (its path; none: no route has this path) and status.",       \
	    .label = "route", .values = route_names, .value_count = 1, .pairs = &by_status)        \
	ROW(http_timeouts_total, METRIC_COUNTER, "decima_http_timeouts_total",                     \
	    "Connections closed because a request or a response took too long.")                   \
	ROW(http_refused_total, METRIC_COUNTER, "decima_http_refused_connections_total",           \
	    "Requests rejected, or connections closed, because too many connections were open.")   \
	ROW(http_share_refused_total, METRIC_COUNTER, "decima_http_address_share_refused_total",   \
	    "Requests rejected because their client's address had its share of the connections.")  \
	ROW(http_evictions_total, METRIC_COUNTER, "decima_http_evictions_total",                   \
	    "Idle connections closed to make room for new ones.")                                  \
	ROW(http_evicted_requests_total, METRIC_COUNTER, "decima_http_evicted_requests_total",     \
	    "Incomplete requests that were ended to make room for new connections.")               \
	ROW(http_connections, METRIC_GAUGE, "decima_http_connections", "Open HTTP connections.")   \
	ROW(http_bodies_bytes, METRIC_GAUGE, "decima_http_bodies_bytes",                           \
	    "Memory of the bodies of requests that are being received or handled, without small "  \
	    "ones.",                                                                               \
	    .read = http_bodies)                                                                   \
	ROW(http_bodies_refused_total, METRIC_COUNTER, "decima_http_bodies_refused_total",         \
	    "Bodies rejected because the bodies of all requests would have used too much memory.") \
	ROW(http_unread_bodies_total, METRIC_COUNTER, "decima_http_unread_bodies_total",           \
	    "Rejected bodies that were too long to be read to their end: the client may not have " \
	    "seen the response.")

HTTP_METRICS(METRIC_DECLARATION)

/* Register the routes' paths as label values. Call it before the server accepts a request. */
void http_metrics_routes(const struct http_route *routes, size_t count);

/* Count one response. `route` is NULL if no route matches the path. */
void http_metrics_count(const struct http_route *route, int status);
