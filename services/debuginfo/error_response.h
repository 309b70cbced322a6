// SPDX-License-Identifier: Apache-2.0
/*
 * answer - how refusals look: {"status":"error","errorType":...,"error":"one sentence"}, in the
 * manner of the querier's.
 */
#pragma once

#include "chassis/http.h"

void error_response_write(struct arena *arena, struct http_response *res, int status,
			  const char *type, const char *sentence);

/* The same, and that it is worth trying again (Retry-After). */
void error_response_write_retry(struct arena *arena, struct http_response *res, int status,
				const char *type, const char *sentence);

/* For what no handler saw (http_refuse). */
void error_response_unhandled(void *service, const struct http_request *req, const char *why,
			      struct http_response *res);
