/*
 * json_answer - how JSON answers and errors look: as those of Prometheus' HTTP API.
 */
#pragma once

#include "chassis/http.h"

/* {"status":"success","data":[...]} */
void json_answer_list(struct arena *arena, const str *items, size_t count,
		      struct http_response *res);

/* {"status":"error","errorType":type,"error":sentence}; the status is the caller's to set. */
void json_answer_error(struct arena *arena, const char *type, const char *sentence,
		       struct http_response *res);
