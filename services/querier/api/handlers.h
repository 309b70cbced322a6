// SPDX-License-Identifier: Apache-2.0
/*
 * handlers - the endpoints of the API, one row each, and the functions that respond to them.
 *
 * A row is ROW(CONSTANT, name, method, path, body_max). It makes ENDPOINT_CONSTANT, the value
 * `name` of the metrics' label `endpoint`, the route in api.c, and the declaration of
 * respond_name(), which a handler_*.c defines. A path that ends in `/` includes all paths below it.
 * body_max: the largest body in bytes.
 */
#pragma once

#include "base/err.h"
#include "querier/querier_limits.h"

#define ENDPOINT_ROWS(ROW)                                                   \
	ROW(LABELS, labels, "GET", "/api/v1/labels", 0)                      \
	ROW(LABEL_VALUES, label_values, "GET", "/api/v1/label/", 0)          \
	ROW(PROFILE_TYPES, profile_types, "GET", "/api/v1/profile_types", 0) \
	ROW(SERIES, series, "GET", "/api/v1/series", 0)                      \
	ROW(QUERY, query, "GET", "/api/v1/query", 0)                         \
	ROW(QUERY_RANGE, query_range, "GET", "/api/v1/query_range", 0)       \
	ROW(DIFF, diff, "GET", "/api/v1/diff", 0)                            \
	ROW(UNNAMED, unnamed, "GET", "/api/v1/unnamed", 0)                   \
	ROW(FLEET, fleet, "GET", "/api/v1/fleet", 0)                         \
	ROW(SHARE, share, "POST", "/api/v1/share", SHARE_BODY_MAX)           \
	ROW(SHARED, shared, "GET", "/api/v1/share/", 0)                      \
	ROW(LINK, link, "GET", "/s/", 0)

#define ENDPOINT_CONSTANT(constant, ...) ENDPOINT_##constant,
enum endpoint { ENDPOINT_ROWS(ENDPOINT_CONSTANT) ENDPOINT_COUNT };
#undef ENDPOINT_CONSTANT

struct api_request;
struct metric;

/*
 * Writes the response to one endpoint. On false `err` is set, and error_type_of() its code is the
 * type of the response. Any thread.
 */
typedef bool api_responder(struct api_request *request, struct err *err);

#define ENDPOINT_RESPONDER(constant, name, ...) api_responder respond_##name;
ENDPOINT_ROWS(ENDPOINT_RESPONDER)
#undef ENDPOINT_RESPONDER

/* Of handler_share.c. */
extern struct metric *const share_metrics[];
