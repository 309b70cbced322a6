// SPDX-License-Identifier: Apache-2.0
/*
 * error_response - the JSON body of an error response.
 *
 *     {"status":"error","errorType":...,"error":"one sentence"}
 *
 * The querier's API has the same format. The texts are copied; the body is in the arena. No
 * function fails. Any thread, with an arena of its own.
 */
#pragma once

#include "server/http/http.h"

void error_response_write(struct arena *arena, struct http_response *res, int status,
			  const char *type, const char *sentence);

/* Like error_response_write(), with a Retry-After header: a later attempt may succeed. */
void error_response_write_retry(struct arena *arena, struct http_response *res, int status,
				const char *type, const char *sentence);

/* An http_error_body: the response to a request that the server rejected before any handler ran. */
void error_response_unhandled(void *service, const struct http_request *req, const char *why,
			      struct http_response *res);
