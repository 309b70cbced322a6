// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/error_response.h"

#include "debuginfo/debuginfo_limits.h"
#include "server/json/json_error.h"

void error_response_write(struct arena *arena, struct http_response *res, int status,
			  const char *type, const char *sentence)
{
	res->status = status;
	json_error(arena, type, sentence, res);
}

void error_response_write_retry(struct arena *arena, struct http_response *res, int status,
				const char *type, const char *sentence)
{
	struct http_param *header = arena_new(arena, struct http_param);

	error_response_write(arena, res, status, type, sentence);
	*header = (struct http_param){ STR("Retry-After"),
				       str_format(arena, "%d", RETRY_AFTER_SECONDS) };
	res->headers = header;
	res->header_count = 1;
}

void error_response_unhandled(void *service, const struct http_request *req, const char *why,
			      struct http_response *res)
{
	const char *type = res->status == 404 ? "not_found" : "bad_data";

	(void)service;
	error_response_write(req->arena, res, res->status, type, why);
}
