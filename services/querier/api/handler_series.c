// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/series: the label sets that match a selector.
 */
#include "querier/api/api_request.h"
#include "querier/api/handlers.h"
#include "querier/report/json_response.h"
#include "store/read/series_reader.h"

#include <inttypes.h>

/* [{"__name__":type, labels...}, ...] */
static bool put_series(struct api_request *request, const struct series *series, size_t count,
		       struct err *err)
{
	struct arena *arena = request->req->arena;
	struct json_response body;

	json_response_begin(&body, arena);
	json_array(&body.json);
	for (size_t i = 0; i < count; i++) {
		json_response_metric(&body.json, series[i].type, series[i].labels);
		if (arena->size > request->api->memory_max)
			return err_set(err, ERR_LIMIT,
				       "the response needs more than %" PRIu64
				       " bytes of memory: ask for fewer series, or raise "
				       "--query-memory-limit",
				       request->api->memory_max);
	}
	json_end_array(&body.json);
	request->res->content_type = "application/json";
	request->res->body = json_response_end(&body, &request->stats);
	return true;
}

bool respond_series(struct api_request *request, struct err *err)
{
	CLEANUP(match_params_done) struct match_params matches = { 0 };
	const struct store_query all = { .start_ms = request->window.start_ms,
					 .end_ms = request->window.end_ms };
	struct series *series = NULL;
	size_t count = 0;

	if (!match_params_parse(request, &matches, err))
		return false;

	struct store_reader *reader = api_request_acquire_reader(request, err);

	if (!reader)
		return false;

	bool read = store_reader_series(reader, matches.len ? matches.queries : &all,
					matches.len ? matches.len : 1, request->req->arena, &series,
					&count, err);

	api_request_release_reader(request, reader);
	return read && put_series(request, series, count, err);
}
