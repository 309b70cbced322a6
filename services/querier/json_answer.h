// SPDX-License-Identifier: Apache-2.0
/*
 * json_answer - how JSON answers look: as those of Prometheus' HTTP API.
 */
#pragma once

#include "chassis/http.h"
#include "chassis/json.h"
#include "profile/labels.h"
#include "stats.h"

/* An answer being written: {"status":"success","data": what the caller puts there, "stats":...} */
struct json_answer {
	struct json json;
	struct buf out; /* private */
};

/* It must not move until its end. */
void json_answer_begin(struct json_answer *answer, struct arena *arena);
str json_answer_end(struct json_answer *answer, const struct answer_stats *stats);

/* The warnings as text alone: a JSON array. */
str json_answer_warnings_text(struct arena *arena, const str *warnings, size_t count);

/* "warnings":[...] beside the data, where there are any. */
void json_answer_warnings(struct json *json, const str *warnings, size_t count);

/* {"__name__":type, labels...}; a type of no length is left out. */
void json_answer_metric(struct json *json, str type, struct labels labels);

/* {"name":"value",...} */
void json_answer_labels(struct json *json, struct labels labels);

/* {"status":"success","data":[...],"stats":...} */
void json_answer_list(struct arena *arena, const str *items, size_t count,
		      const struct answer_stats *stats, struct http_response *res);
