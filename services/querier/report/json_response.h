// SPDX-License-Identifier: Apache-2.0
/*
 * json_response - the JSON of successful responses, in the format of Prometheus' HTTP API.
 *
 * Two ways: json_response_list() writes a complete response; json_response_begin() and
 * json_response_end() enclose a `data` value that the caller writes. No function fails. Texts are
 * in the given arena until the arena is reset; arguments are borrowed during the call. A response
 * that is not ended, because of an error, is dropped with the arena. One thread for each response.
 */
#pragma once

#include "profile/labels.h"
#include "querier/report/query_stats.h"
#include "server/http/http.h"
#include "server/json/json.h"

/* A response while it is written: {"status":"success","data":VALUE,"stats":...}. The caller writes
 * VALUE, exactly one JSON value, to `json` between begin and end. */
struct json_response {
	struct json json;
	struct buf out; /* private */
};

/* Writes the response up to "data":. Initialises the struct, which must not move until
 * json_response_end(). The text is in the arena. */
void json_response_begin(struct json_response *response, struct arena *arena);

/* Writes the statistics and the end. Returns the complete text, in the arena of
 * json_response_begin(). */
str json_response_end(struct json_response *response, const struct query_stats *stats);

/* The warnings as a JSON array of strings, in the arena: the value of an HTTP header, for bodies
 * that are not JSON. */
str json_response_warnings_text(struct arena *arena, const str *warnings, size_t count);

/* Writes the member "warnings":[...], for bodies in JSON. Called after the value of "data" and
 * before json_response_end(). Writes nothing if count is 0. */
void json_response_warnings(struct json *json, const str *warnings, size_t count);

/* Writes the object {"__name__":type, labels...} of a series. If `type` is empty, the member
 * __name__ is omitted. */
void json_response_metric(struct json *json, str type, struct labels labels);

/* {"name":"value",...} */
void json_response_labels(struct json *json, struct labels labels);

/* Writes a complete response {"status":"success","data":[...],"stats":...} and sets body and
 * content type of `res`. `items` are plain texts, which are escaped. */
void json_response_list(struct arena *arena, const str *items, size_t count,
			const struct query_stats *stats, struct http_response *res);
