// SPDX-License-Identifier: Apache-2.0
#include "querier/api/error_response.h"

#include "server/metrics/metrics.h"

enum { RETRY_SECONDS = 1 };

static struct metric errors = { .name = "decima_querier_errors_total",
				.kind = METRIC_COUNTER,
				.help = "Error responses of the API, by error type.",
				.label = "type",
				.values = error_type_names,
				.value_count = ERROR_TYPE_COUNT };
METRICS(error_response_metrics, &errors);

void error_response_write(enum error_type type, const char *sentence, struct arena *arena,
			  struct http_response *res)
{
	metric_add_at(&errors, type, 1);
	json_error_respond(type, sentence, RETRY_SECONDS, arena, res);
}

void error_response_unhandled(const struct http_request *req, const char *why,
			      struct http_response *res)
{
	metric_add_at(&errors, error_type_of_status(res->status), 1);
	json_error_unhandled(NULL, req, why, res);
}
