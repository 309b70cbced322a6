#include "found.h"
#include "json_answer.h"
#include "report.h"

static bool write_report(struct question *question, const struct report *report,
			 const struct selector *selector, const struct found *found,
			 struct err *err)
{
	struct arena *arena = question->req->arena;
	const struct answer given = { .merge = found->merge,
				      .type = selector->type,
				      .window = question->window,
				      .stats = &question->stats,
				      .warnings = found->search.warnings,
				      .warning_count = found->search.warning_count };

	if (!report_write(report, &given, arena, &question->res->body, err))
		return false;
	question->res->content_type = report->content_type;
	if (report->file_name)
		question_header(
			question, STR("Content-Disposition"),
			str_format(arena, "attachment; filename=\"%s\"", report->file_name));
	if (given.warning_count)
		question_header(
			question, STR("Decima-Warnings"),
			json_answer_warnings_text(arena, given.warnings, given.warning_count));
	question_header(question, STR("Decima-Stats"), stats_text(&question->stats, arena));
	return true;
}

static bool give_report(struct question *question, const struct report *report,
			const struct selector *selector, const struct group_by *group_by,
			struct err *err)
{
	const struct found_options options = { .selector = selector,
					       .group_by = group_by,
					       .keep_addresses = report->by_address,
					       .memory_max = question->api->memory_max };
	struct found found = { 0 };
	bool given = found_read(&found, question, &options, err) &&
		     write_report(question, report, selector, &found, err);

	question->held = found.memory.held;
	found_done(&found);
	return given;
}

static bool give_query(struct question *question, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	const struct report *report;
	struct group_by group_by;

	if (!question_selector(question, "query", &selector, err))
		return false;
	return report_find(http_query(question->req, "report"), &report, err) &&
	       params_group_by("group_by", http_query(question->req, "group_by"), &group_by, err) &&
	       give_report(question, report, &selector, &group_by, err);
}

void ask_query(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_QUERY, give_query);
}
