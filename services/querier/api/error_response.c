// SPDX-License-Identifier: Apache-2.0
#include "querier/api/error_response.h"

#include "server/json/json_error.h"
#include "server/metrics/metrics.h"

static const char *const names[ERROR_TYPE_COUNT] = {
	[ERROR_BAD_DATA] = "bad_data",       [ERROR_EXECUTION] = "execution",
	[ERROR_TIMEOUT] = "timeout",         [ERROR_CANCELED] = "canceled",
	[ERROR_UNAVAILABLE] = "unavailable", [ERROR_INTERNAL] = "internal",
	[ERROR_NOT_FOUND] = "not_found",     [ERROR_GONE] = "gone",
};

/* 499: the client is gone, but logs and metrics show it. */
static const int statuses[ERROR_TYPE_COUNT] = {
	[ERROR_BAD_DATA] = 400,    [ERROR_EXECUTION] = 422, [ERROR_TIMEOUT] = 503,
	[ERROR_CANCELED] = 499,    [ERROR_INTERNAL] = 500,  [ERROR_NOT_FOUND] = 404,
	[ERROR_UNAVAILABLE] = 503, [ERROR_GONE] = 410,
};

static struct metric errors = { .name = "decima_querier_errors_total",
				.kind = METRIC_COUNTER,
				.help = "Error responses of the API, by error type.",
				.label = "type",
				.values = names,
				.value_count = ERROR_TYPE_COUNT };
struct metric *const error_response_metrics[ERROR_RESPONSE_METRICS] = { &errors };

void error_response_write_body(enum error_type type, const char *sentence, struct arena *arena,
			       struct http_response *res)
{
	metric_add_at(&errors, type, 1);
	json_error(arena, names[type], sentence, res);
}

void error_response_write(enum error_type type, const char *sentence, struct arena *arena,
			  struct http_response *res)
{
	static const struct http_param retry = { { "Retry-After", 11 }, { "1", 1 } };

	res->status = statuses[type];
	if (type == ERROR_UNAVAILABLE) {
		res->headers = &retry;
		res->header_count = 1;
	}
	error_response_write_body(type, sentence, arena, res);
}
