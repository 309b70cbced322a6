// SPDX-License-Identifier: Apache-2.0
/*
 * json_response - the JSON of successful responses, in the format of Prometheus' HTTP API.
 */
#pragma once

#include "profile/labels.h"
#include "querier/report/query_stats.h"
#include "server/http/http.h"
#include "server/json/json.h"

/* A response while it is written: {"status":"success","data":what the caller writes,"stats":...} */
struct json_response {
	struct json json;
	struct buf out; /* private */
};

/* The struct must not move between begin and end. The text lives in the arena. */
void json_response_begin(struct json_response *response, struct arena *arena);
str json_response_end(struct json_response *response, const struct query_stats *stats);

/* The warnings as a JSON array. */
str json_response_warnings_text(struct arena *arena, const str *warnings, size_t count);

/* "warnings":[...] beside "data"; nothing if count is 0. */
void json_response_warnings(struct json *json, const str *warnings, size_t count);

/* {"__name__":type, labels...}; an empty type is left out. */
void json_response_metric(struct json *json, str type, struct labels labels);

/* {"name":"value",...} */
void json_response_labels(struct json *json, struct labels labels);

/* A whole response: {"status":"success","data":[...],"stats":...} */
void json_response_list(struct arena *arena, const str *items, size_t count,
			const struct query_stats *stats, struct http_response *res);
