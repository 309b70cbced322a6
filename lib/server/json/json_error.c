// SPDX-License-Identifier: Apache-2.0
#include "server/json/json_error.h"

#include "server/json/json.h"

const char *const error_type_names[ERROR_TYPE_COUNT] = { ERROR_TYPES(NAMED_TEXT) };

static const int statuses[ERROR_TYPE_COUNT] = {
	[ERROR_BAD_DATA] = 400,    [ERROR_EXECUTION] = 422, [ERROR_TIMEOUT] = 503,
	[ERROR_CANCELED] = 499,    [ERROR_INTERNAL] = 500,  [ERROR_NOT_FOUND] = 404,
	[ERROR_UNAVAILABLE] = 503, [ERROR_GONE] = 410,
};

enum error_type error_type_of(enum err_code code)
{
	switch (code) {
	case ERR_INVALID:
		return ERROR_BAD_DATA;
	case ERR_CORRUPT:
		return ERROR_INTERNAL;
	case ERR_NOT_FOUND:
		return ERROR_NOT_FOUND;
	case ERR_EXPIRED:
		return ERROR_GONE;
	case ERR_LIMIT:
		return ERROR_EXECUTION;
	case ERR_TIMEOUT:
		return ERROR_TIMEOUT;
	case ERR_CANCELLED:
		return ERROR_CANCELED;
	case ERR_NONE:
	case ERR_IO:
	case ERR_BUSY:
		break;
	}
	return ERROR_UNAVAILABLE;
}

enum error_type error_type_of_status(int status)
{
	if (status == 404)
		return ERROR_NOT_FOUND;
	if (status == 503)
		return ERROR_UNAVAILABLE;
	return status >= 500 ? ERROR_INTERNAL : ERROR_BAD_DATA;
}

void json_error(struct arena *arena, const char *type, const char *sentence,
		struct http_response *res)
{
	struct buf out = { .arena = arena };
	struct json json = { .out = &out };

	json_object(&json);
	json_key(&json, STR("status"));
	json_str(&json, STR("error"));
	json_key(&json, STR("errorType"));
	json_str(&json, str_from(type));
	json_key(&json, STR("error"));
	json_str(&json, str_from(sentence));
	json_end_object(&json);
	buf_u8(&out, '\n');
	res->content_type = "application/json";
	res->body = buf_bytes(&out);
}

void json_error_retry_after(struct arena *arena, unsigned int seconds, struct http_response *res)
{
	struct http_param *header = arena_new(arena, struct http_param);

	*header = (struct http_param){ STR("Retry-After"), str_format(arena, "%u", seconds) };
	res->headers = header;
	res->header_count = 1;
}

void json_error_respond(enum error_type type, const char *sentence, unsigned int retry_seconds,
			struct arena *arena, struct http_response *res)
{
	res->status = statuses[type];
	if (type == ERROR_UNAVAILABLE)
		json_error_retry_after(arena, retry_seconds, res);
	json_error(arena, error_type_names[type], sentence, res);
}

void json_error_unhandled(void *service, const struct http_request *req, const char *why,
			  struct http_response *res)
{
	(void)service;
	json_error(req->arena, error_type_names[error_type_of_status(res->status)], why, res);
}
