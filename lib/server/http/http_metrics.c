// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_metrics_internal.h"
#include "server/limits.h"

#include <stdio.h>

/* The statuses that the services send; all others count as "other". */
static const char *const status_names[] = { "200", "201", "400", "401", "404", "405",  "409",
					    "413", "414", "422", "500", "503", "other" };

/* Paths of the registered routes; the first entry counts paths without a route. */
static const char *route_names[HTTP_ROUTES_MAX] = { "none" };

static _Atomic int64_t cells[HTTP_ROUTES_MAX * ARRAY_LEN(status_names)];
static const struct metric_pairs by_status = {
	.label = "status",
	.values = status_names,
	.value_count = ARRAY_LEN(status_names),
	.cells = cells,
};
HTTP_METRICS(METRIC_VARIABLE)
METRICS_TABLE(http_metrics, HTTP_METRICS);

/* 0: unknown. */
static size_t route_find(str path)
{
	size_t at = http_requests_total.value_count - 1;

	while (at > 0 && !str_eq(str_from(route_names[at]), path))
		at--;
	return at;
}

void http_metrics_routes(const struct http_route *routes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!route_find(str_from(routes[i].path)) &&
		    http_requests_total.value_count < HTTP_ROUTES_MAX)
			route_names[http_requests_total.value_count++] = routes[i].path;
}

void http_metrics_count(const struct http_route *route, int status)
{
	char text[16];
	size_t at = 0;

	snprintf(text, sizeof(text), "%d", status);
	while (at + 1 < ARRAY_LEN(status_names) && strcmp(status_names[at], text) != 0)
		at++;
	metric_add_pair(&http_requests_total, route ? route_find(str_from(route->path)) : 0, at, 1);
}
