// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/profile_type.h"
#include "querier/api/query_result_internal.h"

/* Combine the merges of all connections into the first one. */
static bool combine_merges(struct merge *merges, size_t count, struct err *err)
{
	for (size_t i = 1; i < count; i++) {
		if (!merge_combine(&merges[0], &merges[i], err))
			return false;
		arena_free(merges[i].arena);
		memory_update(&merges[i].memory, 0);
	}
	return true;
}

static bool read_merged(struct query_result *result, struct api_request *request,
			const struct query_result_options *options, struct err *err)
{
	const struct selector *selector = options->selector;
	bool is_gauge = profile_type_temporality(selector->type) == TEMPORALITY_GAUGE;
	size_t count = request->api->connections;
	struct store_sink sinks[READERS_MAX];

	for (size_t i = 0; i < count; i++) {
		struct merge *merge = &result->merges[i];

		merge_init(merge, selector->type, options->group_by, options->memory_max,
			   &result->arenas[i]);
		merge_share_memory(merge, &result->memory);
		merge_set_bounds(merge, api_request_may_continue, request);
		if (is_gauge)
			merge_set_gauge(merge);
		sinks[i] =
			(struct store_sink){ .on_samples = merge_add_row,
					     .on_candidates = is_gauge ? merge_observe_row : NULL,
					     .self = merge };
	}
	result->merge = &result->merges[0];
	request->projection = (struct store_projection){ .level = STORE_STACKS,
							 .label_names = options->group_by->names,
							 .label_count = options->group_by->len };
	return api_request_read_samples(request, selector, sinks, err) &&
	       combine_merges(result->merges, count, err) &&
	       (!is_gauge || merge_average(result->merge, &request->window, err));
}

/* Without a symbol source, addresses stay addresses. */
static bool symbolize(struct query_result *result, struct api_request *request,
		      const struct query_result_options *options, struct err *err)
{
	const struct merge *merge = &result->merges[0];
	uint64_t began_ns = clock_monotonic_ns();
	bool good;

	if (!request->api->symbolization.source.query)
		return true;
	if (!symbol_lookup_run(&result->lookup, &request->api->symbolization, &result->merges[0],
			       &request->bounds, err))
		return false;

	const struct symbolize_options symbolize_options = { result->lookup.resolved,
							     options->keep_addresses };

	merge_init(&result->symbolized, options->selector->type, merge->group_by, merge->memory_max,
		   request->req->arena);
	merge_share_memory(&result->symbolized, &result->memory);
	merge_set_bounds(&result->symbolized, api_request_may_continue, request);
	good = symbolize_merge(&result->symbolized, merge, &symbolize_options, err);
	result->merge = &result->symbolized;
	request->stats.symbols = result->lookup.stats;
	request->stats.symbols.ns = clock_monotonic_ns() - began_ns;
	return good;
}

bool query_result_read(struct query_result *result, struct api_request *request,
		       const struct query_result_options *options, struct err *err)
{
	if (!read_merged(result, request, options, err) ||
	    !symbolize(result, request, options, err))
		return false;
	result->warning_count = api_request_warnings(request, result->warnings);
	for (size_t i = 0; i < result->lookup.warning_count; i++)
		result->warnings[result->warning_count++] = result->lookup.warnings[i];
	return true;
}

size_t query_result_memory_used(const struct query_result *result)
{
	size_t used = result->lookup.arena.size;

	for (size_t i = 0; i < READERS_MAX; i++)
		used += result->arenas[i].size;
	return used;
}

void query_result_done(struct query_result *result)
{
	symbol_lookup_done(&result->lookup);
	for (size_t i = 0; i < READERS_MAX; i++)
		arena_free(&result->arenas[i]);
}
