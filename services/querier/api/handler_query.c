// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/query: a profile as any report, read from the store or from a share.
 */
#include "querier/api/handlers.h"
#include "querier/api/query_result_internal.h"
#include "querier/api/shared_query.h"
#include "querier/report/json_response.h"
#include "querier/report/report.h"

static bool write_report(struct api_request *request, const struct report *report,
			 const struct report_input *input, struct err *err)
{
	struct arena *arena = request->req->arena;

	if (!report_write(report, input, arena, &request->res->body, err))
		return false;
	request->res->content_type = report->content_type;
	if (report->file_name)
		api_request_add_header(
			request, STR("Content-Disposition"),
			str_format(arena, "attachment; filename=\"%s\"", report->file_name));
	if (input->warning_count)
		api_request_add_header(
			request, STR("Decima-Warnings"),
			json_response_warnings_text(arena, input->warnings, input->warning_count));
	api_request_add_header(request, STR("Decima-Stats"),
			       query_stats_text(&request->stats, arena));
	return true;
}

/* The report that a request asks for. */
struct report_choice {
	const struct report *report;
	enum frame_identity identity;
	report_columns columns;
};

static bool params_report(const struct http_request *req, struct report_choice *ret_choice,
			  struct err *err)
{
	str merge = http_query(req, "merge"), columns = http_query(req, "columns");
	struct report_choice choice;

	if (!report_find(http_query(req, "report"), &choice.report, err))
		return false;
	if ((merge.len || columns.len) && !choice.report->has_nodes)
		return err_set(err, ERR_INVALID, "%s is for the reports flamegraph and table only",
			       merge.len ? "merge" : "columns");
	if (!frame_identity_find(merge, &choice.identity, err) ||
	    !report_columns_parse(columns, &choice.columns, err))
		return false;
	*ret_choice = choice;
	return true;
}

static bool respond_report(struct api_request *request, const struct report_choice *choice,
			   const struct selector *selector, const struct group_by *group_by,
			   struct err *err)
{
	const struct query_result_options options = { .selector = selector,
						      .group_by = group_by,
						      .keep_addresses =
							      choice->report->by_address ||
							      choice->identity == FRAME_OF_ADDRESS,
						      .memory_max = request->api->memory_max };
	struct query_result result = { 0 };
	bool good = query_result_read(&result, request, &options, err);

	if (good) {
		const struct report_input input = { .merge = result.merge,
						    .type = selector->type,
						    .window = request->window,
						    .identity = choice->identity,
						    .columns = choice->columns,
						    .stats = &request->stats,
						    .warnings = result.warnings,
						    .warning_count = result.warning_count };

		good = write_report(request, choice->report, &input, err);
	}
	request->memory_used = result.memory.used;
	query_result_done(&result);
	return good;
}

static bool respond_frozen(struct api_request *request, const struct report_choice *choice,
			   const struct shared_query *shared, size_t side, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str type = shared->selectors[side].type;
	struct merge merge;
	str warnings[SHARED_QUERY_WARNINGS_MAX];

	merge_init(&merge, type, &shared->group_by, request->api->memory_max, &arena);
	merge_set_bounds(&merge, api_request_may_continue, request);
	if (!shared_query_read_frozen(shared, side, &merge, err))
		return false;

	const struct report_input input = { .merge = &merge,
					    .type = type,
					    .window = request->window,
					    .identity = choice->identity,
					    .columns = choice->columns,
					    .stats = &request->stats,
					    .warnings = warnings,
					    .warning_count =
						    shared_query_warnings(shared, warnings) };
	bool good = write_report(request, choice->report, &input, err);

	request->memory_used = arena.size + request->req->arena->size;
	return good;
}

/* A request for a share must not have parameters that describe a query. */
static bool is_alone(const struct api_request *request, struct err *err)
{
	static const char *const others[] = { "query", "start", "end", "group_by" };

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (http_query(request->req, others[i]).ptr)
			return err_set(err, ERR_INVALID,
				       "a share has its own query, window and groups: leave %s out",
				       others[i]);
	return true;
}

/* For a comparison, the parameter side=a or side=b selects one profile. */
static bool find_side(const struct http_request *req, const struct shared_query *shared,
		      size_t *ret_side, struct err *err)
{
	str side = http_query(req, "side");
	bool is_b = str_eq(side, STR("b"));

	*ret_side = is_b;
	if (shared->share.side_count == 1)
		return !side.ptr ||
		       err_set(err, ERR_INVALID,
			       "side is only for comparisons: this share is one profile");
	return is_b || str_eq(side, STR("a")) ||
	       err_set(err, ERR_INVALID,
		       "this share is a comparison: request /api/v1/diff?share=ID, or "
		       "one profile of it with side=a or side=b");
}

static bool respond_shared_report(struct api_request *request, const struct report_choice *choice,
				  struct err *err)
{
	CLEANUP(shared_query_done) struct shared_query shared = { 0 };
	size_t side;

	if (!is_alone(request, err) ||
	    !shared_query_open(&shared, request, http_query(request->req, "share"), err) ||
	    !find_side(request->req, &shared, &side, err))
		return false;
	shared_query_use_window(&shared, side, request);
	if (shared.share.is_frozen)
		return respond_frozen(request, choice, &shared, side, err);
	return respond_report(request, choice, &shared.selectors[side], &shared.group_by, err);
}

bool respond_query(struct api_request *request, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	struct report_choice choice;
	struct group_by group_by;

	if (http_query(request->req, "share").ptr)
		return params_report(request->req, &choice, err) &&
		       respond_shared_report(request, &choice, err);
	if (!api_request_selector(request, "query", &selector, err))
		return false;
	return params_report(request->req, &choice, err) &&
	       params_group_by("group_by", http_query(request->req, "group_by"), &group_by, err) &&
	       respond_report(request, &choice, &selector, &group_by, err);
}
