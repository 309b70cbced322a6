// SPDX-License-Identifier: Apache-2.0
/*
 * type - why a question has no answer: Prometheus' words, and the status that goes with each.
 */
#pragma once

#include "chassis/http.h"

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

/* Count it, and answer with its status and the sentence. */
void error_response_write(enum error_type type, const char *sentence, struct arena *arena,
			  struct http_response *res);

/* The same with the status and the headers that `res` has: those of a door, 414 and the like. */
void error_response_write_body(enum error_type type, const char *sentence, struct arena *arena,
			       struct http_response *res);

enum { ERROR_RESPONSE_METRICS = 1 };
extern struct metric *const error_response_metrics[ERROR_RESPONSE_METRICS];
