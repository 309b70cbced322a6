#include "question.h"
#include "report.h"

static bool give_report(struct question *question, const struct report *report,
			const struct selector *selector, const struct group_by *group_by,
			struct err *err)
{
	struct arena *arena = question->req->arena;
	struct merge merge;

	merge_init(&merge, selector->type, group_by, question->api->memory_max, arena);
	if (!question_read(question, selector,
			   &(struct store_sink){ .take = merge_take, .self = &merge }, err))
		return false;

	struct answer given = { .merge = &merge,
				.type = selector->type,
				.window = question->window,
				.stats = &question->stats };

	if (!report_write(report, &given, arena, &question->res->body, err))
		return false;
	question->res->content_type = report->content_type;
	if (report->file_name)
		question_header(
			question, STR("Content-Disposition"),
			str_format(arena, "attachment; filename=\"%s\"", report->file_name));
	question_header(question, STR("Decima-Stats"), stats_text(&question->stats, arena));
	return true;
}

static bool give_query(struct question *question, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	const struct report *report;
	struct group_by group_by;

	if (!question_selector(question, &selector, err))
		return false;
	return report_find(http_query(question->req, "report"), &report, err) &&
	       params_group_by("group_by", http_query(question->req, "group_by"), &group_by, err) &&
	       give_report(question, report, &selector, &group_by, err);
}

void ask_query(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_QUERY, give_query);
}
