// SPDX-License-Identifier: Apache-2.0
#include "querier/api/error_response.h"

#include "server/metrics/metrics.h"

enum { RETRY_SECONDS = 1 };

#define ERROR_RESPONSE_METRICS(ROW)                                \
	ROW(errors, METRIC_COUNTER, "decima_querier_errors_total", \
	    "Error responses of the API, by error type.",          \
	    METRIC_LABEL("type", error_type_names, ERROR_TYPE_COUNT))

METRICS(error_response_metrics, ERROR_RESPONSE_METRICS);

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
