// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/labels, label/NAME/values and profile_types.
 */
#include "profile/limits.h"
#include "querier/api/api_request.h"
#include "querier/api/handlers.h"
#include "querier/report/json_response.h"
#include "store/read/label_reader.h"

/* Read label names, the values of one label, or profile types. */
static bool read_list(struct api_request *request, enum endpoint endpoint, str label,
		      const struct match_params *matches, struct err *err)
{
	struct store_reader *reader = api_request_acquire_reader(request, err);
	struct arena *arena = request->req->arena;
	struct window window = request->window;
	str *items = NULL;
	size_t count = 0;
	bool good = false;

	if (!reader)
		return false;
	if (endpoint == ENDPOINT_LABELS)
		good = store_reader_label_names(reader, matches->queries, matches->len,
						window.start_ms, window.end_ms, arena, &items,
						&count, err);
	else if (endpoint == ENDPOINT_LABEL_VALUES)
		good = store_reader_label_values(reader, label, matches->queries, matches->len,
						 window.start_ms, window.end_ms, arena, &items,
						 &count, err);
	else
		good = store_reader_profile_types(reader, window.start_ms, window.end_ms, arena,
						  &items, &count, err);
	api_request_release_reader(request, reader);
	if (good)
		json_response_list(arena, items, count, &request->stats, request->res);
	return good;
}

static bool respond_list(struct api_request *request, enum endpoint endpoint, str label,
			 struct err *err)
{
	CLEANUP(match_params_done) struct match_params matches = { 0 };

	return match_params_parse(request, &matches, err) &&
	       read_list(request, endpoint, label, &matches, err);
}

bool respond_labels(struct api_request *request, struct err *err)
{
	return respond_list(request, ENDPOINT_LABELS, (str){ 0 }, err);
}

/* .../label/NAME/values; a name may contain any character, slashes included. */
bool respond_label_values(struct api_request *request, struct err *err)
{
	str name = request->req->below;

	if (!str_ends_with(name, STR("/values")) || name.len == strlen("/values"))
		return err_set(err, ERR_INVALID, "the path is /api/v1/label/NAME/values");
	name.len -= strlen("/values");
	if (name.len > LABEL_NAME_MAX || !str_is_utf8(name) || memchr(name.ptr, 0, name.len))
		return err_set(err, ERR_INVALID, "a label name is UTF-8 text of at most %d bytes",
			       LABEL_NAME_MAX);
	return respond_list(request, ENDPOINT_LABEL_VALUES, name, err);
}

bool respond_profile_types(struct api_request *request, struct err *err)
{
	return respond_list(request, ENDPOINT_PROFILE_TYPES, (str){ 0 }, err);
}
