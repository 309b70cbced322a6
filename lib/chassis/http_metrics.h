// SPDX-License-Identifier: Apache-2.0
/*
 * http_metrics - requests by route and status.
 */
#pragma once

#include "chassis/http.h"
#include "chassis/metrics.h"

/* Give each route's path a place in the table; before the server takes its first request. */
void http_metrics_routes(const struct http_route *routes, size_t count);

/* One answered request; route NULL: its path has none. */
void http_metrics_count(const struct http_route *route, int status);

extern struct metric http_requests_total;
