// SPDX-License-Identifier: Apache-2.0
/*
 * error_response - the error responses of the API: Prometheus' error types and their status codes.
 */
#pragma once

#include "server/http/http.h"

enum error_type {
	ERROR_BAD_DATA,
	ERROR_EXECUTION,
	ERROR_TIMEOUT,
	ERROR_CANCELED,
	ERROR_UNAVAILABLE,
	ERROR_INTERNAL,
	ERROR_NOT_FOUND,
	ERROR_GONE,
	ERROR_TYPE_COUNT,
};

/* Count the error, and write a response with the status of its type and the sentence. */
void error_response_write(enum error_type type, const char *sentence, struct arena *arena,
			  struct http_response *res);

/* The same, but keep the status and the headers of `res`: the server has set them, 414 for
 * example. */
void error_response_write_body(enum error_type type, const char *sentence, struct arena *arena,
			       struct http_response *res);

enum { ERROR_RESPONSE_METRICS = 1 };
extern struct metric *const error_response_metrics[ERROR_RESPONSE_METRICS];
