// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/query_range: sums by step and group.
 */
#include "base/clock.h"
#include "profile/profile_type.h"
#include "querier/api/api_request.h"
#include "querier/api/handlers.h"
#include "querier/report/range_report.h"
#include "store/limits.h"

/* The parameters of query_range other than the selector and the window. */
struct range_params {
	struct group_by sum_by;
	bool has_sum_by;            /* false: each series by itself */
	uint64_t start_ms, step_ms; /* start of the first step, length of each step */
	size_t limit;               /* 0: no limit */
};

/* A step below the resolution of gauges would contain only some of the sources. */
static bool is_too_fine(const struct api_request *request, const struct selector *selector,
			uint64_t step_ms)
{
	return http_query(request->req, "step").len == 0 && step_ms < GAUGE_SLOT_MS &&
	       profile_type_temporality(selector->type) == TEMPORALITY_GAUGE;
}

static bool params_read(const struct api_request *request, const struct selector *selector,
			struct range_params *ret_params, struct err *err)
{
	struct range_params params = { 0 };
	str sum_by = http_query(request->req, "sum_by");

	params.has_sum_by = sum_by.ptr;
	if (!params_group_by("sum_by", sum_by, &params.sum_by, err) ||
	    !params_step(request->req, &request->window, &params.step_ms, err) ||
	    !params_limit(request->req, &params.limit, err))
		return false;
	if (is_too_fine(request, selector, params.step_ms))
		params.step_ms = GAUGE_SLOT_MS;
	params.start_ms = params_steps_start(request->req, &request->window, params.step_ms);
	*ret_params = params;
	return true;
}

/* Read the sums with all connections and combine them in ranges[0]. */
static bool read_sums(struct api_request *request, const struct selector *selector,
		      const struct range_options *options, struct range_sums *ranges,
		      struct memory *memory, struct err *err)
{
	bool is_gauge = profile_type_temporality(selector->type) == TEMPORALITY_GAUGE;
	size_t count = request->api->connections;
	struct arena arenas[READERS_MAX] = { 0 };
	struct store_sink sinks[READERS_MAX];
	bool good;

	for (size_t i = 0; i < count; i++) {
		range_sums_init(&ranges[i], options, i ? &arenas[i] : request->req->arena);
		range_sums_share_memory(&ranges[i], memory);
		if (is_gauge)
			range_sums_set_gauge(&ranges[i]);
		sinks[i] = (struct store_sink){ .on_samples = range_sums_add_row,
						.on_candidates =
							is_gauge ? range_sums_observe_row : NULL,
						.self = &ranges[i] };
	}
	request->projection = (struct store_projection){
		.level = options->sum_by ? STORE_LABEL_SUMS : STORE_SERIES_SUMS,
		.label_names = options->sum_by ? options->sum_by->names : NULL,
		.label_count = options->sum_by ? options->sum_by->len : 0,
		.steps_start_ms = options->start_ms,
		.step_ms = options->step_ms,
	};
	good = api_request_read_samples(request, selector, sinks, err);
	for (size_t i = 1; i < count; i++) {
		good = good && range_sums_combine(&ranges[0], &ranges[i], err);
		arena_free(&arenas[i]);
		memory_update(&ranges[i].memory, 0);
	}
	return good;
}

static bool respond_range(struct api_request *request, const struct selector *selector,
			  const struct range_params *params, struct err *err)
{
	struct arena *arena = request->req->arena;
	const struct range_options options = {
		.sum_by = params->has_sum_by ? &params->sum_by : NULL,
		.start_ms = params->start_ms,
		.step_ms = params->step_ms,
		.memory_max = request->api->memory_max,
		.may_continue = api_request_may_continue,
		.request = request,
	};
	struct memory memory = { 0 };
	struct range_sums ranges[READERS_MAX];
	struct range_result result;
	str warnings[STORE_GAPS_MAX];
	struct range_report_input input = {
		.range = &ranges[0],
		.result = &result,
		.type = params->has_sum_by ? STR("") : selector->type,
		.stats = &request->stats,
		.warnings = warnings,
	};

	if (!read_sums(request, selector, &options, ranges, &memory, err) ||
	    !range_sums_finish(&ranges[0], params->limit, &result, err))
		return false;
	input.warning_count = api_request_warnings(request, warnings);
	request->res->content_type = "application/json";
	return range_report_write(&input, arena, &request->res->body, err);
}

bool respond_query_range(struct api_request *request, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	struct range_params params;

	return api_request_selector(request, "query", &selector, err) &&
	       params_read(request, &selector, &params, err) &&
	       respond_range(request, &selector, &params, err);
}
