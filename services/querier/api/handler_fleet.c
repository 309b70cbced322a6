// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/fleet: each host and the balance of its samples.
 */
#include "querier/api/api_request.h"
#include "querier/api/fleet_response_internal.h"
#include "querier/api/handlers.h"

bool respond_fleet(struct api_request *request, struct err *err)
{
	struct fleet_response response;
	struct fleet_page page;
	struct fleet_sink sink = { .on_host = fleet_response_add_host, .self = &response };

	if (!fleet_page_read(request->req, &page, err))
		return false;
	fleet_response_begin(&response, &page, request->api->memory_max, request->req->arena);

	struct store_reader *reader = api_request_acquire_reader(request, err);

	if (!reader)
		return false;

	bool read = store_reader_fleet(reader, page.after, &sink, err);

	api_request_release_reader(request, reader);
	if (read)
		fleet_response_end(&response, &request->stats, request->res);
	return read;
}
