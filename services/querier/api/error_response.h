// SPDX-License-Identifier: Apache-2.0
/*
 * error_response - the error responses of the API: Prometheus' error types and their status codes.
 *
 * Any thread. No function fails.
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

/* Counts the error and writes a response with the status of its type. Body and headers are in the
 * arena or constant; `sentence` is copied. */
void error_response_write(enum error_type type, const char *sentence, struct arena *arena,
			  struct http_response *res);

/* Counts the error and writes body and content type only. Status and headers of `res` stay: the
 * server has set them, for 414 for example. */
void error_response_write_body(enum error_type type, const char *sentence, struct arena *arena,
			       struct http_response *res);

enum { ERROR_RESPONSE_METRICS = 1 };
extern struct metric *const error_response_metrics[ERROR_RESPONSE_METRICS];
