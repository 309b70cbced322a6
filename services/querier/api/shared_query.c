// SPDX-License-Identifier: Apache-2.0
#include "querier/api/shared_query.h"

#include "querier/report/frozen.h"
#include "server/metrics/metrics.h"

static const char *const state_names[] = {
	[SHARE_UNKNOWN] = "unknown", [SHARE_EXPIRED] = "expired", [SHARE_FOUND] = "found"
};
#define SHARED_QUERY_METRICS(ROW)                                          \
	ROW(lookups, METRIC_COUNTER, "decima_querier_share_lookups_total", \
	    "Lookups of shares, by result.",                               \
	    METRIC_LABEL("result", state_names, ARRAY_LEN(state_names)))

METRICS(shared_query_metrics, SHARED_QUERY_METRICS);

static bool read_share(struct api_request *request, str id, bool with_payload,
		       struct share *ret_share, enum share_state *ret_state, struct err *err)
{
	struct store_reader *reader;

	*ret_state = SHARE_UNKNOWN;
	if (!share_id_is_valid(id))
		return true;
	reader = api_request_acquire_reader(request, err);
	if (!reader)
		return false;

	bool read = store_reader_share(reader, id, with_payload, request->req->arena, ret_share,
				       ret_state, err);

	if (read && *ret_state == SHARE_FOUND)
		for (size_t i = 0; i < ret_share->side_count; i++)
			reader->stats.bytes += ret_share->sides[i].payload.len;
	api_request_release_reader(request, reader);
	return read;
}

bool shared_query_find(struct api_request *request, str id, bool with_payload,
		       struct share *ret_share, struct err *err)
{
	enum share_state state;

	if (!read_share(request, id, with_payload, ret_share, &state, err))
		return false;
	metric_add_at(&lookups, state, 1);
	if (state == SHARE_UNKNOWN)
		return err_set(err, ERR_NOT_FOUND,
			       "there is no such share: the link is incomplete, or expired");
	return state == SHARE_FOUND || err_set(err, ERR_EXPIRED, "this share has expired");
}

bool shared_query_parse(struct shared_query *shared, struct arena *arena, struct err *err)
{
	const struct share *share = &shared->share;
	const struct selector *selectors = shared->selectors;

	for (size_t i = 0; i < share->side_count; i++)
		if (!selector_parse(share->sides[i].query, arena, &shared->selectors[i], err))
			return false;
	if (share->side_count == 2 && !str_eq(selectors[0].type, selectors[1].type))
		return err_set(err, ERR_INVALID,
			       "a is of the type " STR_FMT " and b of " STR_FMT
			       ": only profiles of one type can be compared",
			       STR_ARG(selectors[0].type), STR_ARG(selectors[1].type));
	return params_group_by("group_by", share->group_by, &shared->group_by, err);
}

/* What is invalid was stored: the request is not to blame. */
static bool stored_data_is_bad(struct err *err)
{
	if (err->code == ERR_INVALID)
		err->code = ERR_CORRUPT;
	return false;
}

bool shared_query_open(struct shared_query *shared, struct api_request *request, str id,
		       struct err *err)
{
	if (!shared_query_find(request, id, true, &shared->share, err))
		return false;
	return shared_query_parse(shared, request->req->arena, err) || stored_data_is_bad(err);
}

void shared_query_use_window(const struct shared_query *shared, size_t side,
			     struct api_request *request)
{
	request->window = (struct window){ shared->share.sides[side].start_ms,
					   shared->share.sides[side].end_ms };
}

bool shared_query_read_frozen(const struct shared_query *shared, size_t side, struct merge *merge,
			      struct err *err)
{
	const struct frozen frozen = { shared->share.sides[side].payload,
				       shared->share.sides[side].reasons };

	return frozen_read(&frozen, merge, err) || stored_data_is_bad(err);
}

void shared_query_done(struct shared_query *shared)
{
	for (size_t i = 0; i < SHARE_SIDES_MAX; i++)
		selector_done(&shared->selectors[i]);
}

size_t shared_query_warnings(const struct shared_query *shared,
			     str warnings[SHARED_QUERY_WARNINGS_MAX])
{
	str rest = shared->share.warnings;
	size_t count = 0;

	while (rest.len && count < SHARED_QUERY_WARNINGS_MAX)
		warnings[count++] = str_cut(&rest, '\n');
	return count;
}
