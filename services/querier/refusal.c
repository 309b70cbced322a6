// SPDX-License-Identifier: Apache-2.0
#include "refusal.h"

#include "chassis/json_error.h"
#include "chassis/metrics.h"

static const char *const names[REFUSAL_COUNT] = {
	[REFUSED_BAD_DATA] = "bad_data",       [REFUSED_EXECUTION] = "execution",
	[REFUSED_TIMEOUT] = "timeout",         [REFUSED_CANCELED] = "canceled",
	[REFUSED_UNAVAILABLE] = "unavailable", [REFUSED_INTERNAL] = "internal",
	[REFUSED_NOT_FOUND] = "not_found",     [REFUSED_GONE] = "gone",
};

/* 499: nobody reads it, but logs and metrics do. */
static const int statuses[REFUSAL_COUNT] = {
	[REFUSED_BAD_DATA] = 400,    [REFUSED_EXECUTION] = 422, [REFUSED_TIMEOUT] = 503,
	[REFUSED_CANCELED] = 499,    [REFUSED_INTERNAL] = 500,  [REFUSED_NOT_FOUND] = 404,
	[REFUSED_UNAVAILABLE] = 503, [REFUSED_GONE] = 410,
};

static struct metric errors = { .name = "decima_querier_errors_total",
				.kind = METRIC_COUNTER,
				.help = "Requests to the API that were refused or failed, by why.",
				.label = "type",
				.values = names,
				.value_count = REFUSAL_COUNT };
struct metric *const refusal_metrics[REFUSAL_METRICS] = { &errors };

void refusal_tell(enum refusal refusal, const char *sentence, struct arena *arena,
		  struct http_response *res)
{
	metric_add_at(&errors, refusal, 1);
	json_error(arena, names[refusal], sentence, res);
}

void refusal_answer(enum refusal refusal, const char *sentence, struct arena *arena,
		    struct http_response *res)
{
	static const struct http_param retry = { { "Retry-After", 11 }, { "1", 1 } };

	res->status = statuses[refusal];
	if (refusal == REFUSED_UNAVAILABLE) {
		res->headers = &retry;
		res->header_count = 1;
	}
	refusal_tell(refusal, sentence, arena, res);
}
