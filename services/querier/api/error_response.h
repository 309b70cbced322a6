// SPDX-License-Identifier: Apache-2.0
/*
 * error_response - counts the error responses of the API by type, and writes them.
 *
 * Any thread. No function fails.
 */
#pragma once

#include "server/json/json_error.h"

/* Counts the error and writes a response with the status of its type. Body and headers are in the
 * arena; `sentence` is copied. */
void error_response_write(enum error_type type, const char *sentence, struct arena *arena,
			  struct http_response *res);

/* Counts the error and writes body and content type only. The server has set the status of `res`,
 * 414 for example, which selects the type. */
void error_response_unhandled(const struct http_request *req, const char *why,
			      struct http_response *res);

extern struct metric *const error_response_metrics[];
