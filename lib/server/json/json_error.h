// SPDX-License-Identifier: Apache-2.0
/*
 * json_error - the error responses of every service's API, in the format of Prometheus' HTTP API.
 *
 * An error type is the word of the API, `errorType`, and its status. One switch maps error codes to
 * types. Bodies and headers are in the request's arena; sentences are copied. No function fails.
 * Any thread.
 */
#pragma once

#include "server/http/http.h"

#define ERROR_TYPES(ROW)                                                                          \
	ROW(ERROR_BAD_DATA, "bad_data")       /* 400 */                                           \
	ROW(ERROR_EXECUTION, "execution")     /* 422 */                                           \
	ROW(ERROR_TIMEOUT, "timeout")         /* 503 */                                           \
	ROW(ERROR_CANCELED, "canceled")       /* 499: the client is gone; for logs and metrics */ \
	ROW(ERROR_UNAVAILABLE, "unavailable") /* 503 with Retry-After */                          \
	ROW(ERROR_INTERNAL, "internal")       /* 500 */                                           \
	ROW(ERROR_NOT_FOUND, "not_found")     /* 404 */                                           \
	ROW(ERROR_GONE, "gone")               /* 410 */

enum error_type { ERROR_TYPES(NAMED_CONSTANT) ERROR_TYPE_COUNT };
extern const char *const error_type_names[ERROR_TYPE_COUNT];

/* The type of a failure of a handler. */
enum error_type error_type_of(enum err_code code);

/* The type of a status that the server itself has set: 404, 413, ... */
enum error_type error_type_of_status(int status);

/*
 * Set status, body and content type. ERROR_UNAVAILABLE adds the header Retry-After with that
 * number of seconds.
 */
void json_error_respond(enum error_type type, const char *sentence, unsigned int retry_seconds,
			struct arena *arena, struct http_response *res);

/* An http_error_body: the response to a request that the server rejected before any handler ran. */
void json_error_unhandled(void *service, const struct http_request *req, const char *why,
			  struct http_response *res);

/*
 * Set the body {"status":"error","errorType":type,"error":sentence} and its content type only; the
 * caller sets res->status.
 */
void json_error(struct arena *arena, const char *type, const char *sentence,
		struct http_response *res);

/* Set the header Retry-After, the only header of the response. */
void json_error_retry_after(struct arena *arena, unsigned int seconds, struct http_response *res);
