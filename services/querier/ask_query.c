// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/query: a profile in any report, read now or as it was shared.
 */
#include "found.h"
#include "json_answer.h"
#include "report.h"
#include "shared.h"

static bool write_report(struct question *question, const struct report *report,
			 const struct answer *given, struct err *err)
{
	struct arena *arena = question->req->arena;

	if (!report_write(report, given, arena, &question->res->body, err))
		return false;
	question->res->content_type = report->content_type;
	if (report->file_name)
		question_header(
			question, STR("Content-Disposition"),
			str_format(arena, "attachment; filename=\"%s\"", report->file_name));
	if (given->warning_count)
		question_header(
			question, STR("Decima-Warnings"),
			json_answer_warnings_text(arena, given->warnings, given->warning_count));
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
	bool given = found_read(&found, question, &options, err);

	if (given) {
		const struct answer answer = { .merge = found.merge,
					       .type = selector->type,
					       .window = question->window,
					       .stats = &question->stats,
					       .warnings = found.warnings,
					       .warning_count = found.warning_count };

		given = write_report(question, report, &answer, err);
	}
	question->held = found.memory.held;
	found_done(&found);
	return given;
}

static bool give_frozen(struct question *question, const struct report *report,
			const struct shared *shared, size_t side, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str type = shared->selectors[side].type;
	struct merge merge;
	str warnings[SHARED_WARNINGS_MAX];

	merge_init(&merge, type, &shared->group_by, question->api->memory_max, &arena);
	if (!shared_thaw(shared, side, &merge, err))
		return false;

	const struct answer answer = { .merge = &merge,
				       .type = type,
				       .window = question->window,
				       .stats = &question->stats,
				       .warnings = warnings,
				       .warning_count = shared_warnings(shared, warnings) };
	bool given = write_report(question, report, &answer, err);

	question->held = arena.held + question->req->arena->held;
	return given;
}

/* What was shared is asked for by its id alone. */
static bool is_alone(const struct question *question, struct err *err)
{
	static const char *const others[] = { "query", "start", "end", "group_by" };

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (http_query(question->req, others[i]).ptr)
			return err_set(err, ERR_INVALID,
				       "a share has its own query, window and groups: leave %s out",
				       others[i]);
	return true;
}

/* Of a comparison one side is asked for: side=a, side=b. */
static bool find_side(struct question *question, const struct shared *shared, size_t *ret_side,
		      struct err *err)
{
	str side = http_query(question->req, "side");
	bool is_b = str_eq(side, STR("b"));

	*ret_side = is_b;
	if (shared->share.side_count == 1)
		return !side.ptr ||
		       shared_refuse(question, err,
				     "side is of comparisons: this share is one profile");
	return is_b || str_eq(side, STR("a")) ||
	       shared_refuse(question, err,
			     "this share is a comparison: /api/v1/diff?share=ID gives it, and "
			     "side=a or side=b one profile of it");
}

static bool give_share(struct question *question, const struct report *report, struct err *err)
{
	CLEANUP(shared_done) struct shared shared = { 0 };
	size_t side;

	if (!is_alone(question, err) ||
	    !shared_open(&shared, question, http_query(question->req, "share"), err) ||
	    !find_side(question, &shared, &side, err))
		return false;
	shared_look_at(&shared, side, question);
	if (shared.share.is_frozen)
		return give_frozen(question, report, &shared, side, err);
	return give_report(question, report, &shared.selectors[side], &shared.group_by, err);
}

static bool give_query(struct question *question, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	const struct report *report;
	struct group_by group_by;

	if (http_query(question->req, "share").ptr)
		return report_find(http_query(question->req, "report"), &report, err) &&
		       give_share(question, report, err);
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
