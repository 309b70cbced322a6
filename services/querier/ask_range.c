#include "profile/limits.h"
#include "question.h"
#include "range_report.h"

/* What query_range asks for beside the selector and the window. */
struct range_params {
	struct group_by sum_by;
	bool has_sum_by; /* false: each series by itself */
	uint64_t step_ms;
	size_t limit; /* 0: none */
};

static bool params_read(const struct question *question, struct range_params *ret_params,
			struct err *err)
{
	struct range_params params = { 0 };
	str sum_by = http_query(question->req, "sum_by");

	params.has_sum_by = sum_by.ptr;
	if (!params_group_by("sum_by", sum_by, &params.sum_by, err) ||
	    !params_step(question->req, &question->window, &params.step_ms, err) ||
	    !params_limit(question->req, &params.limit, err))
		return false;
	*ret_params = params;
	return true;
}

static bool give_range(struct question *question, const struct selector *selector,
		       const struct range_params *params, struct err *err)
{
	struct arena *arena = question->req->arena;
	const struct range_options options = {
		.sum_by = params->has_sum_by ? &params->sum_by : NULL,
		.start_ms = question->window.start_ms,
		.step_ms = params->step_ms,
		.memory_max = question->api->memory_max,
	};
	struct range range;
	struct range_result result;
	const struct range_answer answer = {
		.range = &range,
		.result = &result,
		.type = params->has_sum_by ? STR("") : selector->type,
		.stats = &question->stats,
	};

	range_init(&range, &options, arena);
	if (!question_read(question, selector,
			   &(struct store_sink){ .take = range_take, .self = &range }, err) ||
	    !range_finish(&range, params->limit, &result, err))
		return false;
	question->res->content_type = "application/json";
	return range_report_write(&answer, arena, &question->res->body, err);
}

static bool give(struct question *question, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	struct range_params params;

	return question_selector(question, &selector, err) && params_read(question, &params, err) &&
	       give_range(question, &selector, &params, err);
}

void ask_query_range(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_QUERY_RANGE, give);
}
