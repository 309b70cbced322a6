// SPDX-License-Identifier: Apache-2.0
/*
 * http_metrics - counts HTTP requests by route and status.
 */
#pragma once

#include "server/http/http.h"
#include "server/metrics/metrics.h"

/* Register the routes' paths as label values. Call it before the server accepts a request. */
void http_metrics_routes(const struct http_route *routes, size_t count);

/* Count one response. `route` is NULL if no route matches the path. */
void http_metrics_count(const struct http_route *route, int status);

extern struct metric http_requests_total;
