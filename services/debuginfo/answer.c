// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include "chassis/json_error.h"
#include "debuginfo_limits.h"

void answer_error(struct arena *arena, struct http_response *res, int status, const char *type,
		  const char *sentence)
{
	res->status = status;
	json_error(arena, type, sentence, res);
}

void answer_later(struct arena *arena, struct http_response *res, int status, const char *type,
		  const char *sentence)
{
	struct http_param *header = arena_new(arena, struct http_param);

	answer_error(arena, res, status, type, sentence);
	*header = (struct http_param){ STR("Retry-After"),
				       str_format(arena, "%d", RETRY_AFTER_SECONDS) };
	res->headers = header;
	res->header_count = 1;
}

void answer_refusal(void *service, const struct http_request *req, const char *why,
		    struct http_response *res)
{
	const char *type = res->status == 404 ? "not_found" : "bad_data";

	(void)service;
	answer_error(req->arena, res, res->status, type, why);
}
