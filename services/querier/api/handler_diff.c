// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/diff: two queries, or the two sides of a share, as one tree.
 */
#include "base/clock.h"
#include "querier/api/handlers.h"
#include "querier/api/query_result_internal.h"
#include "querier/api/shared_query.h"
#include "querier/report/diff.h"
#include "querier/report/flame_report.h"

/* How the response shows both sides. */
struct diff_view {
	enum frame_identity identity;
	report_columns columns;
};

/* One side: read from the store, or frozen in a share. */
struct diff_side {
	struct query_result result;
	struct arena arena; /* of `frozen` */
	struct merge frozen;
	struct merge *merge; /* of `result`, or `frozen` */
};

static void diff_side_done(struct diff_side *side)
{
	query_result_done(&side->result);
	arena_free(&side->arena);
}

static size_t diff_side_memory_used(const struct diff_side *side)
{
	return query_result_memory_used(&side->result) + side->arena.size;
}

/* Read a side in a snapshot of its own. Its statistics are added to those of the request. */
static bool diff_side_read(struct diff_side *side, size_t number, struct api_request *request,
			   const struct shared_query *shared, const struct diff_view *view,
			   uint64_t memory_max, struct err *err)
{
	struct query_stats before = request->stats;
	const struct query_result_options options = { .selector = &shared->selectors[number],
						      .group_by = &shared->group_by,
						      .keep_addresses =
							      view->identity == FRAME_OF_ADDRESS,
						      .memory_max = memory_max };

	shared_query_use_window(shared, number, request);
	request->stats.symbols = (struct symbol_lookup_stats){ 0 };
	if (!query_result_read(&side->result, request, &options, err))
		return false;
	side->merge = side->result.merge;
	query_stats_add(&request->stats, &before);
	return true;
}

static bool diff_side_read_frozen(struct diff_side *side, size_t number,
				  const struct api_request *request,
				  const struct shared_query *shared, uint64_t memory_max,
				  struct err *err)
{
	merge_init(&side->frozen, shared->selectors[number].type, &shared->group_by, memory_max,
		   &side->arena);
	merge_set_bounds(&side->frozen, api_request_may_continue, request);
	side->merge = &side->frozen;
	return shared_query_read_frozen(shared, number, &side->frozen, err);
}

/* The warnings of the share, or of both sides; each sentence once. */
static size_t warnings_of(const struct shared_query *shared,
			  const struct diff_side sides[SHARE_SIDES_MAX],
			  str warnings[SHARED_QUERY_WARNINGS_MAX])
{
	size_t count = shared_query_warnings(shared, warnings);

	for (size_t side = 0; side < SHARE_SIDES_MAX; side++) {
		const struct query_result *result = &sides[side].result;

		for (size_t i = 0; i < result->warning_count; i++) {
			size_t j = 0;

			while (j < count && !str_eq(warnings[j], result->warnings[i]))
				j++;
			if (j == count)
				warnings[count++] = result->warnings[i];
		}
	}
	return count;
}

static bool write_diff(struct api_request *request, const struct shared_query *shared,
		       const struct diff_side sides[SHARE_SIDES_MAX], const struct diff_view *view,
		       struct err *err)
{
	struct arena *arena = request->req->arena;
	struct merge *merges[SHARE_SIDES_MAX] = { sides[0].merge, sides[1].merge };
	str warnings[SHARED_QUERY_WARNINGS_MAX];
	struct flame_symbols symbols;
	struct diff diff;

	if (!flame_symbols_make(&symbols, merges, SHARE_SIDES_MAX, view->identity, arena, err) ||
	    !diff_build(&symbols, arena, &diff, err))
		return false;

	const struct report_input input = { .merge = merges[1],
					    .type = shared->selectors[1].type,
					    .columns = view->columns,
					    .stats = &request->stats,
					    .warnings = warnings,
					    .warning_count = warnings_of(shared, sides, warnings) };

	request->res->content_type = "application/json";
	return diff_report_write(&input, &diff, arena, &request->res->body, err);
}

/* Both sides together must not exceed the memory limit of one response. */
static bool respond_both(struct api_request *request, const struct shared_query *shared,
			 struct diff_side sides[SHARE_SIDES_MAX], const struct diff_view *view,
			 struct err *err)
{
	uint64_t left = request->api->memory_max;

	for (size_t i = 0; i < SHARE_SIDES_MAX; i++) {
		struct diff_side *side = &sides[i];

		if (!(shared->share.is_frozen
			      ? diff_side_read_frozen(side, i, request, shared, left, err)
			      : diff_side_read(side, i, request, shared, view, left, err)))
			return false;
		left = left > diff_side_memory_used(side) ? left - diff_side_memory_used(side) : 1;
	}
	return write_diff(request, shared, sides, view, err);
}

static const char *const prefixes[SHARE_SIDES_MAX] = { "a_", "b_" };

/* Fill `shared` from parameters, like a share that is not frozen. */
static bool read_params(const struct api_request *request, struct shared_query *shared,
			struct err *err)
{
	const struct http_request *req = request->req;
	uint64_t now_ms = clock_unix_ns() / NS_PER_MS;

	for (size_t i = 0; i < SHARE_SIDES_MAX; i++) {
		const char *query =
			str_z(req->arena, str_format(req->arena, "%squery", prefixes[i]));
		struct window window;

		if (!api_request_selector(request, query, &shared->selectors[i], err) ||
		    !params_window(req, prefixes[i], now_ms, &window, err))
			return false;
		shared->share.sides[i] =
			(struct share_side){ .start_ms = window.start_ms, .end_ms = window.end_ms };
	}

	str a = shared->selectors[0].type, b = shared->selectors[1].type;

	if (!str_eq(a, b))
		return err_set(err, ERR_INVALID,
			       "a_query is of the type " STR_FMT " and b_query of " STR_FMT
			       ": only profiles of one type can be compared",
			       STR_ARG(a), STR_ARG(b));
	return params_group_by("group_by", http_query(req, "group_by"), &shared->group_by, err);
}

/* Open a share. No other parameter may describe the query. */
static bool read_share(struct api_request *request, str id, struct shared_query *shared,
		       struct err *err)
{
	static const char *const others[] = { "a_query", "a_start", "a_end",   "b_query",
					      "b_start", "b_end",   "group_by" };

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (http_query(request->req, others[i]).ptr)
			return err_set(
				err, ERR_INVALID,
				"a share has its own queries, windows and groups: leave %s out",
				others[i]);
	if (!shared_query_open(shared, request, id, err))
		return false;
	return shared->share.side_count == SHARE_SIDES_MAX ||
	       err_set(err, ERR_INVALID,
		       "this share is one profile: request /api/v1/query?share=ID");
}

bool respond_diff(struct api_request *request, struct err *err)
{
	CLEANUP(shared_query_done) struct shared_query shared = { 0 };
	struct diff_side sides[SHARE_SIDES_MAX] = { 0 };
	struct diff_view view;
	str id = http_query(request->req, "share");

	if (!frame_identity_find(http_query(request->req, "merge"), &view.identity, err) ||
	    !report_columns_parse(http_query(request->req, "columns"), &view.columns, err))
		return false;
	if (id.ptr ? !read_share(request, id, &shared, err) : !read_params(request, &shared, err))
		return false;

	bool good = respond_both(request, &shared, sides, &view, err);

	request->memory_used = diff_side_memory_used(&sides[0]) + diff_side_memory_used(&sides[1]);
	for (size_t i = 0; i < SHARE_SIDES_MAX; i++)
		diff_side_done(&sides[i]);
	return good;
}
